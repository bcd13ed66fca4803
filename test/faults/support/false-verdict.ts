import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { promisesOf, type Wish } from './wish.ts'
import type { Chain, World } from './world.ts'

/**
 * Compares a verdict of the gateway with the record on the chain.
 *
 * @returns Whether the verdict was `valid` for a document that is not on the chain, revoked or suspended;
 * `undefined` without a verdict, or when the chain was rewritten meanwhile.
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
  // A verdict holds as of its block: the node may lag, or the document may have been revoked since.
  const revoked = await ledger.revoked([hash], verdict.asOf).catch(() => undefined)
  const suspended = await ledger.suspended([hash], verdict.asOf).catch(() => undefined)
  if (!recorded || !recordedBefore || !revoked || !suspended) return undefined
  // Geth sometimes drops another block some time after a rewind, so a record may vanish.
  const gone = recordedBefore.has(hash) && !recorded.has(hash)
  if (gone || chain.rewrites !== before) return undefined
  const isRevised = revoked.has(hash) || suspended.has(hash)
  return verdict.valid && (!recorded.has(hash) || isRevised)
}
