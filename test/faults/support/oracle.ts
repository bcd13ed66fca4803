import { createHash } from 'node:crypto'
import { cidOf } from '#document/cid.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, type IssuerSubkeys } from '#document/keys.ts'
import { decodePublicId } from '#document/public-id.ts'
import { openDocument, readSealedHeader } from '#document/sealed.ts'
import { SUPERSEDED } from '#verifier/reasons.ts'
import type { Client } from './client.ts'
import { judgeEvents } from './events.ts'
import type { Ledger } from './ledger.ts'
import { isRevocationPromised, promisesOf } from './wish.ts'

/** The outcome of a run. The lists have the numbers of documents; empty lists mean success. */
export type Judgement = {
  /** The number of documents promised with 201 or 202. */
  acknowledged: number
  onChain: number
  /** Promised documents without record, event, or a payload that opens to the sent document. */
  lost: string[]
  /**
   * Documents that are on the chain more than once, by event or by request, or that were promised
   * under two publicIds.
   */
  doubled: string[]
  /** Promised documents that are on the chain and not revoked, but have another verdict. */
  notValid: string[]
  /** The number of promised revocations. */
  revocations: number
  /** Documents whose promised revocation the chain or the gateway's verdict does not show. */
  notRevoked: string[]
  /**
   * Documents that are revoked on the chain although this was never requested, or refused each
   * time.
   */
  revokedUnasked: string[]
  /** Events of changes at a gateway that differ from the chain or are missing. */
  wrongEvents: string[]
  /** The documentHashes on the chain whose payload no gateway has. */
  unreadable: string[]
  /** Documents that are on the chain although every request was refused. */
  refusedYetIssued: string[]
  /** Documents and other requests that were answered with 500. */
  internalErrors: string[]
}

/**
 * Compares the answers that clients got with chain and store, without the gateway's own
 * bookkeeping. It finds documents on the chain by their events, and opens them with the issuer
 * secret.
 */
export async function judge(world: {
  client: Client
  ledger: Ledger
  issuerSecret: Hex
}): Promise<Judgement> {
  const { client, ledger } = world
  const subkeys = deriveSubkeys(fromHex(world.issuerSecret))
  const events = await ledger.issued()
  const hashes = [...new Set(events)]
  const records = await ledger.recorded(hashes)
  const erased = new Map(
    client.wishes
      .filter(({ erasure }) => erasure)
      .flatMap((wish) => promisesOf(wish).map((publicId) => [hashOf(publicId), wish.number])),
  )

  const found = new Map<string, Hex[]>()
  const unreadable: string[] = []
  await inTurns(hashes, async (hash) => {
    const number = erased.get(hash) ?? (await numberUnder(client, subkeys, hash))
    if (number === undefined) unreadable.push(hash)
    else found.set(number, [...(found.get(number) ?? []), hash])
  })

  const revoked = await ledger.reasons(hashes)
  const lost: string[] = []
  const notValid: string[] = []
  const notRevoked: string[] = []
  const revokedUnasked: string[] = []
  const promised = client.wishes.filter((wish) => promisesOf(wish).length > 0)
  await inTurns(promised, async (wish) => {
    for (const publicId of promisesOf(wish)) {
      const hash = hashOf(publicId)
      const { revocation = [], successor, suspension, erasure } = wish
      const there = found.get(wish.number)?.includes(hash) && records.has(hash)
      const opens = erasure || (await numberOpenedBy(client, publicId)) === wish.number
      if (!there || !opens) lost.push(wish.number)
      // Without the payload every answer is 503, so waiting for another one is useless.
      const { valid, status } = await (opens ? client.verdict : client.verify)(publicId)
      if (isRevocationPromised(wish)) {
        const word = revoked.get(hash) === SUPERSEDED ? 'superseded' : 'revoked'
        const isWrong = successor !== undefined && !wish.revocation && word !== 'superseded'
        if (!revoked.has(hash) || status !== word || isWrong) notRevoked.push(wish.number)
      } else if (!successor && revocation.every((told) => told === 'refused')) {
        if (revoked.has(hash)) revokedUnasked.push(wish.number)
        else if (there && !valid && !suspension && !erasure) notValid.push(wish.number)
      }
    }
  })

  return {
    acknowledged: promised.length,
    onChain: hashes.length,
    lost,
    notValid,
    revocations: promised.filter(isRevocationPromised).length,
    notRevoked,
    revokedUnasked,
    wrongEvents: await judgeAllEvents(client, ledger, hashes),
    unreadable,
    doubled: [
      ...events.filter((hash, i) => events.indexOf(hash) !== i),
      ...[...found].flatMap(([number, all]) => (all.length > 1 ? number : [])),
      ...promised.filter((wish) => promisesOf(wish).length > 1).map(({ number }) => number),
    ],
    refusedYetIssued: client.wishes
      .filter(
        ({ number, told }) => found.has(number) && told.every(({ kind }) => kind === 'refused'),
      )
      .map(({ number }) => number),
    internalErrors: [
      ...client.failures,
      ...client.wishes
        .filter(({ told }) => told.some((one) => one.kind === 'refused' && one.status === 500))
        .map(({ number }) => number),
    ],
  }
}

/** The judgement that every run must have. */
export const NOTHING_WRONG = {
  lost: [],
  doubled: [],
  notValid: [],
  notRevoked: [],
  revokedUnasked: [],
  wrongEvents: [],
  unreadable: [],
  refusedYetIssued: [],
  internalErrors: [],
} satisfies Partial<Judgement>

/** Each of several gateways has its own database, and knows only its own changes. */
async function judgeAllEvents(
  client: Client,
  ledger: Ledger,
  hashes: readonly Hex[],
): Promise<string[]> {
  const known = client.gateways === 1 ? hashes : []
  const wrong: string[] = []
  for (let gateway = 0; gateway < client.gateways; gateway++) {
    const read = async (path: string) => {
      const reply = await client.call({ method: 'GET', path }, gateway)
      if (reply?.status !== 200) throw new Error(`${path}: ${reply?.status} ${reply?.text}`)
      return reply.text
    }
    wrong.push(...(await judgeEvents(ledger, read, known)))
  }
  return wrong
}

const hashOf = (publicId: string) => toHex(decodePublicId(publicId).hash)

/** @returns The number of the document under this hash, opened with the issuer secret. */
async function numberUnder(
  client: Client,
  subkeys: IssuerSubkeys,
  hash: Hex,
): Promise<string | undefined> {
  const block = await blockOf(client, fromHex(hash))
  if (block === undefined) return undefined
  const { salt } = readSealedHeader(block)
  const { documentKey } = deriveSealingKeys(subkeys, salt)
  return (await openDocument(block, documentKey)).subjectId
}

/** @returns The number of the document that a publicId opens. */
async function numberOpenedBy(client: Client, publicId: string): Promise<string | undefined> {
  const { hash, documentKey } = decodePublicId(publicId)
  const block = await blockOf(client, hash)
  return block && (await openDocument(block, documentKey)).subjectId
}

async function blockOf(client: Client, hash: Uint8Array): Promise<Uint8Array | undefined> {
  const block = await client.block(cidOf(hash))
  const digest = block && createHash('sha256').update(block).digest()
  return digest?.equals(hash) ? block : undefined
}

/** Works on eight items at a time. */
export async function inTurns<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}
