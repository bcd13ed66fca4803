import { ChainError } from '#verifier/errors.ts'
import type { RegistryAccount, RegistryRecord } from '#verifier/ports.ts'
import { type Request, readStrictly } from '#verifier/readers/request.ts'
import { readObject, readQuantity, toQuantity } from '#verifier/readers/rpc-codec.ts'

/**
 * @returns Whether a record was anchored soon after its account was added or got other permissions.
 */
export type YoungRule = (
  record: Pick<RegistryRecord, 'accountIndex' | 'anchoredBlock' | 'anchoredAt'>,
) => boolean

/**
 * Reads when the accounts were added and changed. The node gives the times of these blocks without
 * proof, and none for a block that it does not have.
 *
 * @param seconds How long an account counts as young.
 */
export async function readAges(
  request: Request,
  accounts: ReadonlyMap<number, RegistryAccount>,
  seconds: number,
): Promise<YoungRule> {
  const times = new Map<number, number | undefined>()
  for (const { addedBlock, changedBlock } of accounts.values())
    for (const block of [addedBlock, changedBlock])
      if (block !== 0 && !times.has(block)) times.set(block, await timeOf(request, block))
  return ({ accountIndex, anchoredBlock, anchoredAt }) => {
    const account = accounts.get(accountIndex)
    if (!account || seconds === 0) return false
    return [account.addedBlock, account.changedBlock].some((block) => {
      const time = block !== 0 && block <= anchoredBlock ? times.get(block) : undefined
      return time !== undefined && anchoredAt - time < seconds
    })
  }
}

async function timeOf(request: Request, block: number): Promise<number | undefined> {
  const method = 'eth_getBlockByNumber'
  try {
    const answer = await request(method, [toQuantity(block), false])
    if (answer === null) return undefined
    return readStrictly(method, () => readQuantity(readObject(answer).timestamp))
  } catch (error) {
    if (error instanceof ChainError && error.code === 'rpc_error') return undefined
    throw error
  }
}
