import { join } from 'node:path'
import { type GethNode, startGethNode } from '../../support/geth.ts'
import { temporaryFolder } from './machine.ts'
import { type Chain, startWorld, type World } from './world.ts'

export type GethWorld = World & { chain: GethNode & Chain }

/** @param binary Of geth. */
export async function startGethWorld(
  binary: string,
  env: Record<string, string> = {},
): Promise<GethWorld> {
  const folder = temporaryFolder()
  const geth = await startGethNode(binary, join(folder.dir, 'geth'))
  const chain = { ...geth, rewrites: 0 }
  const world = await startWorld(chain, folder.dir, env)
  return {
    ...world,
    chain,
    async close() {
      await world.close()
      await geth.kill()
      folder.remove()
    },
  }
}
