import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '#document/hex.ts'
import { type GethNode, startGethNode } from '../../support/geth.ts'
import { temporaryFolder } from './machine.ts'
import { type Chain, startWorld, type World, type WorldSize } from './world.ts'

export type GethWorld = World & {
  chain: GethNode & Chain
  /**
   * Removes up to `blocks` of the newest blocks, but never final ones. Their transactions are lost,
   * also from geth's pool.
   */
  rewind(blocks: number): Promise<void>
  /**
   * Kills geth and starts it again with its last saved state. If that would drop final blocks, geth
   * saves first.
   */
  crash(): Promise<void>
}

/**
 * The number of blocks in an epoch; `finalized` of a developer chain is the last multiple of this.
 */
const EPOCH = 32
/**
 * Blocks before the next epoch within which the chain is not rewound, because the epoch might begin
 * meanwhile.
 */
const NEAR = 5
/** The maximum number of attempts to rewind geth. */
const TRIES = 5
/** The pause after a rewind in milliseconds. Blocks come every second. */
const SETTLED = 1_500

/**
 * @param binary The path of geth.
 * @param options Additional command-line options, read at each start.
 */
export async function startGethWorld(
  binary: string,
  env: Record<string, string> = {},
  size: WorldSize = {},
  options: readonly string[] = [],
): Promise<GethWorld> {
  const folder = temporaryFolder()
  const geth = await startGethNode(binary, join(folder.dir, 'geth'), options)
  const chain = { ...geth, rewrites: 0 }
  const leave = async () => {
    await geth.kill()
    folder.remove()
  }
  const world = await startWorld(chain, folder.dir, env, size).catch(async (error) => {
    await leave()
    throw error
  })
  const height = async (tag: 'latest' | 'finalized') => {
    const block = await chain.request<{ number: Hex } | null>('eth_getBlockByNumber', tag, false)
    return Number(block?.number ?? 0)
  }
  const rewriting = async (work: () => Promise<unknown>) => {
    chain.rewrites++
    await work()
    chain.rewrites++
  }
  /** @returns Whether it succeeded; it fails when geth has just dropped its head by itself. */
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
  // This makes the registry older than any block that is lost.
  await save()
  return {
    ...world,
    chain,
    rewind: (blocks) =>
      rewriting(async () => {
        for (let tries = 1; !(await setBack(blocks)); tries++)
          if (tries === TRIES) throw new Error('geth cannot be rewound')
        // A dropped block may still return for a moment.
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
      await leave()
    },
  }
}
