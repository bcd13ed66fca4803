// One measurement of issuing by a checkout of this project, for `tools/bench/before.ts`.
//
//   node tools/bench/before/measure.ts '{"checkout", "documents", "seconds", "connections", …}'
//
// It prints a `Row` as JSON. The checkout measures itself, with its own program.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { inFolder, Limits, startGateway } from '../measure.ts'

export type MeasureOptions = Limits & {
  checkout: string
  connections: number
  /** `issue keyed` sends an idempotency key with each document. */
  kind?: 'issue' | 'issue keyed'
  /** More settings of the gateway. */
  env?: Record<string, string>
}

/** The path of the program, and its path before tools/ was a folder. */
const PLACES = ['tools/bench/measure.ts', 'bench/measure.ts', 'scripts/bench/measure.ts']

const {
  checkout,
  env,
  kind = 'issue',
  ...load
}: MeasureOptions = JSON.parse(process.argv[2] ?? '{}')
const program = PLACES.map((place) => join(resolve(checkout), place)).find(existsSync)
if (program === undefined) throw new Error(`${checkout} is not a checkout of this project`)
const its: { inFolder: typeof inFolder; startGateway: typeof startGateway } = await import(
  pathToFileURL(program).href
)
const row = await its.inFolder(async (dataDir) => {
  const gateway = await its.startGateway(dataDir, undefined, env)
  const issued = await gateway.load({ kind, ...load })
  await gateway.stop()
  return issued
})
console.log(JSON.stringify(row))
