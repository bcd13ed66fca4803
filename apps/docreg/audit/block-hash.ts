import type { Hex } from '#document/hex.ts'
import { type Request, readStrictly } from '#verifier/readers/request.ts'
import { readHash, readObject, toQuantity } from '#verifier/readers/rpc-codec.ts'

/** @returns The hash of a block; `undefined` when the node has none with this number. */
export async function hashOfBlock(request: Request, block: number): Promise<Hex | undefined> {
  const method = 'eth_getBlockByNumber'
  const answer = await request(method, [toQuantity(block), false])
  if (answer === null) return undefined
  return readStrictly(method, () => readHash(readObject(answer).hash))
}
