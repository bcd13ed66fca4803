import { toHex } from '../../../document/hex.ts'
import { decodePublicId } from '../../../document/public-id.ts'
import { promisesOf, type Wish } from './client.ts'
import type { Chain, World } from './world.ts'

/**
 * Asks the gateway for a verdict and the chain for the record.
 *
 * @returns Whether it said `valid` of what the chain does not have or has revoked; `undefined` when
 * there was no verdict, or when the chain was changed meanwhile, so that nobody can say.
 */
export async function falseVerdict(
  { client, ledger, chain }: Pick<World, 'client' | 'ledger'> & { chain: Pick<Chain, 'rewrites'> },
  wish: Wish,
): Promise<boolean | undefined> {
  const [publicId] = promisesOf(wish)
  if (publicId === undefined) return undefined
  const hash = toHex(decodePublicId(publicId).hash)
  const before = chain.rewrites
  const recordedBefore = await ledger.recorded([hash]).catch(() => undefined)
  const verdict = await client.verify(publicId).catch(() => undefined)
  if (verdict?.httpStatus !== 200) return undefined
  const recorded = await ledger.recorded([hash]).catch(() => undefined)
  // A verdict is true as of its block: the node may be some blocks behind, or it may be revoked
  // since.
  const revoked = await ledger.revoked([hash], verdict.asOf).catch(() => undefined)
  if (!recorded || !recordedBefore || !revoked) return undefined
  // A record that was there and is not: geth takes back a block now and then also some time after
  // it was set back.
  const gone = recordedBefore.has(hash) && !recorded.has(hash)
  if (gone || chain.rewrites !== before) return undefined
  return verdict.valid && (!recorded.has(hash) || revoked.has(hash))
}
