import type { Request } from '#verifier/readers/request.ts'
import {
  readHex,
  readList,
  readObject,
  readQuantity,
  toQuantity,
} from '#verifier/readers/rpc-codec.ts'
import { type Finding, ok, warn } from './finding.ts'

const DAY_SECONDS = 86_400
/** The number of blocks from which the time between blocks is estimated. */
const SAMPLE = 1_000

/** The age of a block, and what needs its proof. */
type Need = { block: number; age: string; features: string }

const OPTIONS =
  'give the node a longer window (geth --history.trienode, reth --rpc.eth-proof-window, op-reth --proofs-history), or use an archive node'

/**
 * Asks for a proof at the newest block, at the final one and about a day back, because many nodes
 * keep what a proof needs for few blocks only.
 *
 * @param final The number of the newest final block; absent or 0 = unknown.
 */
export async function checkProofs(
  name: string,
  request: Request,
  { address, head, final }: { address: string; head: number; final?: number | undefined },
): Promise<Finding> {
  if (!(await isProven(request, address, 'latest')))
    return warn(
      'proofs',
      `${name} does not support eth_getProof: bundles, docreg audit and docreg-gateway recover do not work`,
      'choose an endpoint that does; some chains have none (Linea, zkSync)',
    )
  const needs: Need[] = [
    ...(final
      ? [{ block: final, age: 'final', features: 'docreg audit and docreg-gateway recover' }]
      : []),
    {
      block: await blockOfADayAgo(request, head),
      age: 'a day old',
      features: 'docreg audit --as-of and bundles of such blocks',
    },
  ]
  for (const { block, age, features } of needs)
    if (!(await isProven(request, address, toQuantity(block))))
      return warn(
        'proofs',
        `${name} has no proofs of block ${block}, which is ${age}: ${features} do not work`,
        OPTIONS,
      )
  const blocks = needs.map(({ block }) => block).join(' and ')
  return ok('proofs', `${name} has proofs of the newest block, and of ${blocks}`)
}

async function isProven(request: Request, address: string, block: string): Promise<boolean> {
  try {
    const { accountProof } = readObject(await request('eth_getProof', [address, [], block]))
    return readList(accountProof, readHex).length > 0
  } catch {
    return false
  }
}

/** @returns The first block of a chain that is younger. */
async function blockOfADayAgo(request: Request, head: number): Promise<number> {
  const timeOf = async (block: number) => {
    const answer = await request('eth_getBlockByNumber', [toQuantity(block), false])
    return readQuantity(readObject(answer).timestamp)
  }
  const sample = Math.min(SAMPLE, head - 1)
  if (sample < 1) return head
  const seconds = ((await timeOf(head)) - (await timeOf(head - sample))) / sample
  return Math.max(1, head - Math.round(DAY_SECONDS / Math.max(seconds, 0.001)))
}
