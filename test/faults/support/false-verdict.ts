import { toHex } from '../../../document/hex.ts'
import { decodePublicId } from '../../../document/public-id.ts'
import { promisesOf, type Wish } from './client.ts'
import type { World } from './world.ts'

/**
 * Asks the gateway for a verdict and the chain for the record.
 *
 * @returns Whether it said `valid` of what the chain does not have; `undefined` when there was no verdict, or when the chain was
 * changed meanwhile, so that nobody can say.
 */
export async function falseVerdict(
  { client, ledger, chain }: World,
  wish: Wish,
): Promise<boolean | undefined> {
  const [publicId] = promisesOf(wish)
  if (publicId === undefined) return undefined
  const before = chain.rewrites
  const verdict = await client.verify(publicId).catch(() => undefined)
  if (verdict?.httpStatus !== 200) return undefined
  const hash = toHex(decodePublicId(publicId).hash)
  const recorded = await ledger.recorded([hash]).catch(() => undefined)
  if (recorded === undefined || chain.rewrites !== before) return undefined
  return verdict.valid && !recorded.has(hash)
}
