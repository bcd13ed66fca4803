import type { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex } from '#document/hex.ts'
import { ChainError } from '#verifier/errors.ts'
import type { RegistryAccount, RegistryIssuer, RegistryRecord } from '#verifier/ports.ts'
import {
  furtherSlotsOf,
  readText,
  slotsOfIssuer,
  unpackHeld,
  unpackProposal,
  unpackRecord,
  unpackSigner,
  unpackState,
} from '#verifier/proof/slots.ts'
import type { SlotProver } from '#verifier/readers/slot-prover.ts'
import type { Phases } from './phases.ts'
import { inTrieOrder } from './trie-order.ts'

/** The state of an issuer in the registry, proven at one block. */
export type IssuerState = {
  issuer: RegistryIssuer
  /** The accounts by index, from 0. */
  accounts: ReadonlyMap<number, RegistryAccount>
  /** The account that the admin proposes to recover the issuer; `null` = none. */
  proposal: { account: Hex; acceptFrom: number } | null
}

/** @throws {ChainError} as {@link SlotProver}. */
export async function readIssuerState(prover: SlotProver, issuerId: number): Promise<IssuerState> {
  const slots = slotsOfIssuer(issuerId)
  const words = new Map<Hex, bigint>()
  const prove = async (some: readonly Hex[]) => {
    await prover.prove(some, (word, i) => void words.set(some[i] as Hex, word))
  }
  const wordOf = (slot: Hex) => words.get(slot) ?? 0n
  await prove([slots.state, slots.proposal, slots.name, slots.uri])
  const state = unpackState(wordOf(slots.state))
  const indexes = Array.from({ length: state.accountCount }, (_, i) => i)
  await prove([
    ...furtherSlotsOf(slots.name, wordOf(slots.name)),
    ...furtherSlotsOf(slots.uri, wordOf(slots.uri)),
    ...indexes.map(slots.signer),
  ])
  const signers = indexes.map((index) => unpackSigner(wordOf(slots.signer(index))))
  await prove(signers.map(({ account }) => slots.account(account)))
  const accounts = signers.map((signer, i) => ({
    ...signer,
    accountIndex: i,
    ...unpackHeld(wordOf(slots.account(signer.account))),
  }))
  const textAt = (slot: Hex) =>
    readText(BigInt(slot), (part) => {
      const word = words.get(part)
      // The text is longer than the registry accepts, and so longer than what was proven.
      if (word === undefined) throw new ChainError('no_registry', 'the slot does not hold a string')
      return fromHex(toWord(word))
    })
  return {
    issuer: { id: issuerId, name: textAt(slots.name), uri: textAt(slots.uri), ...state },
    accounts: new Map(accounts.map((account) => [account.accountIndex, account])),
    proposal: unpackProposal(wordOf(slots.proposal)),
  }
}

/**
 * Proves the record of each key, in the order of the storage trie.
 *
 * @throws {ChainError} as {@link SlotProver}.
 */
export async function proveRecords(
  prover: SlotProver,
  { scratch, count, slotOf, take, phases }: RecordsToProve,
): Promise<void> {
  const sorted = inTrieOrder(scratch, count, slotOf)
  const asked = new Map<number, number>()
  function* slots() {
    let place = 0
    for (const { index, slot } of sorted) {
      asked.set(place++, index)
      yield slot
    }
  }
  try {
    await prover.prove(slots(), (word, place) => {
      take(asked.get(place) as number, word)
      asked.delete(place)
      phases.advance(1)
    })
  } finally {
    // Releases the table when a proof has failed.
    sorted.return(undefined)
  }
}

/**
 * @returns The records in the slots, in the same order. @throws {ChainError} as {@link SlotProver}.
 */
export async function proveSome(
  prover: SlotProver,
  slots: readonly Hex[],
  about: Pick<RecordsToProve, 'scratch' | 'phases'>,
): Promise<RegistryRecord[]> {
  const records: RegistryRecord[] = []
  await proveRecords(prover, {
    ...about,
    count: slots.length,
    slotOf: (index) => slots[index] as Hex,
    take(index, word) {
      records[index] = unpackRecord(word)
    },
  })
  return records
}

type RecordsToProve = {
  scratch: DatabaseSync
  count: number
  /** The slot of a key. */
  slotOf: (index: number) => Hex
  /** Receives the value of each slot, in any order. */
  take: (index: number, word: bigint) => void
  phases: Phases
}

function toWord(word: bigint): Hex {
  return `0x${word.toString(16).padStart(64, '0')}`
}
