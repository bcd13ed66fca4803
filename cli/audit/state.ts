import { createRows, sortRows } from '../../document/batch/rows.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import type { RegistryAccount, RegistryIssuer, RegistryRecord } from '../../verifier/ports.ts'
import {
  furtherSlotsOf,
  readText,
  slotsOfIssuer,
  trieKeyOf,
  unpackHeld,
  unpackProposal,
  unpackRecord,
  unpackSigner,
  unpackState,
} from '../../verifier/proof/slots.ts'
import type { SlotProver } from '../../verifier/readers/slot-prover.ts'
import type { Phases } from './phases.ts'

/** What the registry holds about an issuer, proven at one block. */
export type IssuerState = {
  issuer: RegistryIssuer
  /** By their index, from 0. */
  accounts: ReadonlyMap<number, RegistryAccount>
  /** An account that the admin proposes to recover the issuer; `null` = none. */
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
  const textAt = (slot: Hex) => readText(BigInt(slot), (part) => fromHex(toWord(wordOf(part))))
  return {
    issuer: { id: issuerId, name: textAt(slots.name), uri: textAt(slots.uri), ...state },
    accounts: new Map(accounts.map((account) => [account.accountIndex, account])),
    proposal: unpackProposal(wordOf(slots.proposal)),
  }
}

/** Records by the index of their key. */
export type Records = { at(index: number): RegistryRecord }

/**
 * Proves the record of each key, in the order of the storage trie.
 *
 * @param slotOf The slot of a key.
 */
export async function proveRecords(
  prover: SlotProver,
  count: number,
  slotOf: (index: number) => Hex,
  phases: Phases,
): Promise<Records> {
  // The key of the trie, and the slot.
  const rows = createRows(64)
  const row = new Uint8Array(64)
  for (let i = 0; i < count; i++) {
    const slot = slotOf(i)
    row.set(trieKeyOf(slot))
    row.set(fromHex(slot), 32)
    rows.push(row)
  }
  const order = sortRows({ ...rows, length: count, compare: (a, b) => rows.compare(a, b, 32) })
  const words = new Uint8Array(32 * count)
  function* slots() {
    for (const index of order) yield toHex(rows.at(index).subarray(32))
  }
  await prover.prove(slots(), (word, i) => {
    words.set(fromHex(toWord(word)), 32 * (order[i] as number))
    phases.advance(1)
  })
  return {
    at: (index) => unpackRecord(BigInt(toHex(words.subarray(32 * index, 32 * (index + 1))))),
  }
}

function toWord(word: bigint): Hex {
  return `0x${word.toString(16).padStart(64, '0')}`
}
