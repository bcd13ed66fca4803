import { openRegistry } from '#chain/registry.ts'
import { PATIENCE_MS } from '#chain/rpc.ts'
import type { Signer } from '#chain/signer.ts'
import type { Hex } from '#document/hex.ts'
import type { AccountPorts } from '#engine/seats.ts'
import { IssueError } from '#promise/errors.ts'
import type { Lock } from '#promise/lock.ts'
import type { Readiness } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'
import type { Identity } from './chain.ts'

/** The accounts of the issuer that this gateway can sign for, by address in lower case. */
export type Accounts = ReadonlyMap<Hex, AccountPorts>

/** @returns The accounts, and a function that opens an account without its key. */
export function openAccounts(
  { finality, feeCap }: Config,
  { rpc, registry, issuerId, signer, otherSigners = [] }: Identity,
): { accounts: Accounts; keyless: (address: Hex) => AccountPorts } {
  // Issuing has its own connections, so that reads cannot delay it.
  const provider = rpc.apart(PATIENCE_MS.issuing)
  const options = { registry, issuerId, finality, ...(feeCap !== undefined && { feeCap }) }
  const open = (one: Signer) => openRegistry(provider, { ...options, signer: one })
  return {
    accounts: new Map(
      [signer, ...otherSigners].map((one) => [one.address.toLowerCase() as Hex, open(one)]),
    ),
    keyless: (address) => open(withoutKey(address)),
  }
}

/** @throws {IssueError} when no account can write. */
export async function firstReady(accounts: Accounts): Promise<Readiness> {
  const answers = [...accounts.values()].map(({ account }) => account.assertReady())
  return Promise.any(answers).catch(({ errors }: AggregateError) => {
    throw errors[0]
  })
}

/** @returns A signer that signs only while this process has the lock of its account. */
export function lockedSigner(signer: Signer, lock: Pick<Lock, 'assertHeld'>): Signer {
  return {
    ...signer,
    async sign(transaction) {
      await lock.assertHeld()
      return signer.sign(transaction)
    },
  }
}

/** The settings have its key no more, but what it sent must still be settled. */
function withoutKey(address: Hex): Signer {
  const refuse = async (): Promise<never> => {
    throw new IssueError('signer_unavailable', `the settings have no signer for ${address}`)
  }
  return { address, assertReady: refuse, sign: refuse }
}
