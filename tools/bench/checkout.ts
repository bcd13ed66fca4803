// Issuing by another checkout of this project, which measures itself with its own program.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { inFolder, Load, Row, startGateway } from './measure.ts'

/** The path of the program, and its path before tools/ was a folder. */
const PLACES = ['tools/bench/measure.ts', 'bench/measure.ts', 'scripts/bench/measure.ts']

type Program = { inFolder: typeof inFolder; startGateway: typeof startGateway }

/** @param env More settings of the gateway. */
export async function measureCheckout(
  checkout: string,
  load: Load,
  env: Record<string, string> = {},
): Promise<Row> {
  const program = PLACES.map((place) => join(resolve(checkout), place)).find(existsSync)
  if (program === undefined) throw new Error(`${checkout} is not a checkout of this project`)
  const its: Program = await import(pathToFileURL(program).href)
  return its.inFolder(async (dataDir) => {
    const gateway = await its.startGateway(dataDir, undefined, env)
    const issued = await gateway.load(load)
    await gateway.stop()
    return issued
  })
}
