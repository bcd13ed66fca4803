import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../../document/hex.ts'
import { type GethNode, startGethNode } from '../../support/geth.ts'
import { temporaryFolder } from './machine.ts'
import { type Chain, startWorld, type World, type WorldSize } from './world.ts'

export type GethWorld = World & {
  chain: GethNode & Chain
  /**
   * Takes away the newest blocks, as many as are not final. Their transactions are gone, also from
   * geth's pool.
   */
  rewind(blocks: number): Promise<void>
  /**
   * Kills geth and starts it again: it has what it saved last. Where that would take back what is
   * final, it saves instead.
   */
  crash(): Promise<void>
}

/** Of a developer chain, `finalized` is the last multiple of this. */
const EPOCH = 32
/** So many blocks before the next epoch it could begin while something is done. */
const NEAR = 5
/** How often it is tried to set geth back. */
const TRIES = 5
/** After a rewind; milliseconds. Blocks come every second. */
const SETTLED = 1_500

/** @param binary Of geth. */
export async function startGethWorld(
  binary: string,
  env: Record<string, string> = {},
  size: WorldSize = {},
): Promise<GethWorld> {
  const folder = temporaryFolder()
  const geth = await startGethNode(binary, join(folder.dir, 'geth'))
  const chain = { ...geth, rewrites: 0 }
  const world = await startWorld(chain, folder.dir, env, size)
  const height = async (tag: 'latest' | 'finalized') => {
    const block = await chain.request<{ number: Hex } | null>('eth_getBlockByNumber', tag, false)
    return Number(block?.number ?? 0)
  }
  const rewriting = async (work: () => Promise<unknown>) => {
    chain.rewrites++
    await work()
    chain.rewrites++
  }
  /**
   * @returns Whether it was: not so when a block that was its head has just gone again by itself.
   */
  const setBack = async (blocks: number) => {
    const head = await height('latest')
    const oldest = Math.max(await height('finalized'), saved)
    const target = Math.min(head, Math.max(head - blocks, oldest))
    try {
      await chain.request('debug_setHead', `0x${target.toString(16)}`)
      return true
    } catch (error) {
      if (!/future block/.test(String(error))) throw error
      await sleep(SETTLED)
      return false
    }
  }
  let saved = 0
  const save = () =>
    rewriting(async () => {
      saved = await height('latest')
      await geth.save()
    })
  // The registry itself is older than anything that is lost.
  await save()
  return {
    ...world,
    chain,
    rewind: (blocks) =>
      rewriting(async () => {
        for (let tries = 1; !(await setBack(blocks)); tries++)
          if (tries === TRIES) throw new Error('geth cannot be set back')
        // A block that geth was at may still come, and go again.
        await sleep(SETTLED)
      }),
    async crash() {
      const near = (await height('latest')) % EPOCH >= EPOCH - NEAR
      if (near || saved < (await height('finalized'))) return save()
      await rewriting(async () => {
        await geth.kill()
        await geth.start()
      })
    },
    async close() {
      await world.close()
      await geth.kill()
      folder.remove()
    },
  }
}
