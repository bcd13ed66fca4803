import { cidOf } from '#document/cid.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { SUPERSEDED } from '#verifier/reasons.ts'
import type { Client } from './client.ts'
import { inTurns } from './oracle.ts'
import { promisesOf, type Wish } from './wish.ts'
import type { World } from './world.ts'

/**
 * The faults of changes and lists. The lists have the numbers of documents; empty lists mean
 * success.
 */
export type ChangeJudgement = {
  /** The number of confirmed suspensions and releases. */
  suspensions: number
  superseded: number
  erased: number
  /**
   * Documents that were last suspended or released while chain or verdict differ, or that were
   * suspended without a request.
   */
  wronglySuspended: string[]
  /** Superseded documents with only one of the two changes on the chain. */
  halfSuperseded: string[]
  /**
   * Erased documents that a gateway still serves after confirming the erasure, or does not answer
   * with 410.
   */
  servedErased: string[]
  /**
   * Promised documents that are in no list or have the wrong status there, and listed documents
   * that are unknown.
   */
  wronglyListed: string[]
}

type Judged = Pick<World, 'client' | 'ledger'>

export const NO_WRONG_CHANGE = {
  wronglySuspended: [],
  halfSuperseded: [],
  servedErased: [],
  wronglyListed: [],
} satisfies Partial<ChangeJudgement>

const hashOf = (wish: Wish): Hex => toHex(decodePublicId(promisesOf(wish)[0] ?? '').hash)

/** Compares what clients were told about changes with the chain, verdicts and lists. */
export async function judgeChanges({ client, ledger }: Judged): Promise<ChangeJudgement> {
  const promised = client.wishes.filter((wish) => promisesOf(wish).length > 0)
  const hashes = promised.map(hashOf)
  const [recorded, revoked, suspended] = await Promise.all([
    ledger.recorded(hashes),
    ledger.reasons(hashes),
    ledger.suspended(hashes),
  ])
  const statuses = { recorded, revoked, suspended }
  const wronglySuspended: string[] = []
  const halfSuperseded: string[] = []
  const servedErased: string[] = []
  await inTurns(promised, async (wish) => {
    const hash = hashOf(wish)
    if (!(await isSuspendedAsTold(client, wish, suspended.has(hash))))
      wronglySuspended.push(wish.number)
    if (wish.successor && !(await isBothOrNeither(client, wish, statuses)))
      halfSuperseded.push(wish.number)
    if ((await servesErased(client, wish)) === true) servedErased.push(wish.number)
  })
  return {
    suspensions: promised.filter(({ suspension }) => suspension?.done).length,
    superseded: promised.filter(({ successor }) => successor && promisesOf(successor).length > 0)
      .length,
    erased: promised.filter(({ erasure }) => erasure && [...erasure.values()].every(Boolean))
      .length,
    wronglySuspended,
    halfSuperseded,
    servedErased,
    wronglyListed: await judgeLists(client, promised, statuses),
  }
}

async function isSuspendedAsTold(
  client: Client,
  wish: Wish,
  isSuspended: boolean,
): Promise<boolean> {
  const { suspension, revocation, successor, erasure } = wish
  // The suspension was not answered, or a revocation came after it.
  if ((suspension && !suspension.done) || revocation || successor) return true
  if (isSuspended !== (suspension?.change === 'suspend')) return false
  if (erasure) return true
  const { status } = await client.verdict(promisesOf(wish)[0] ?? '')
  return status === (isSuspended ? 'suspended' : 'valid')
}

/** `revoked` contains the reasons. */
type Statuses = Record<'recorded' | 'suspended', ReadonlySet<Hex>> & {
  revoked: ReadonlyMap<Hex, number>
}

const LISTS = ['valid', 'suspended', 'revoked', 'superseded'] as const

/** @returns The status that a document on the chain has in lists. */
function statusOf(hash: Hex, { revoked, suspended }: Statuses): (typeof LISTS)[number] {
  if (revoked.has(hash)) return revoked.get(hash) === SUPERSEDED ? 'superseded' : 'revoked'
  return suspended.has(hash) ? 'suspended' : 'valid'
}

/** @returns Whether the successor is on the chain exactly when the document is revoked. */
async function isBothOrNeither(
  client: Client,
  wish: Wish,
  { recorded, revoked }: Statuses,
): Promise<boolean> {
  const { successor } = wish
  const isRevoked = revoked.has(hashOf(wish))
  if (!successor || promisesOf(successor).length === 0) {
    // Nobody was told of a successor, but the gateway may still know one.
    const reply = await client.call({
      method: 'POST',
      path: '/v1/documents/search',
      body: JSON.stringify({ subjectId: successor?.number }),
    })
    if (reply?.status !== 200 || client.gateways > 1) return true
    return isRevoked === JSON.parse(reply.text).data.documents.length > 0
  }
  return isRevoked && recorded.has(hashOf(successor))
}

/**
 * @returns Whether a gateway that confirmed an erasure serves the document, or answers anything
 * other than that it was erased; `undefined` when none could be asked.
 */
export async function servesErased(client: Client, wish: Wish): Promise<boolean | undefined> {
  const [publicId] = promisesOf(wish)
  if (publicId === undefined) return undefined
  const cid = cidOf(decodePublicId(publicId).hash)
  let serves: boolean | undefined
  for (const [gateway, isErased] of wish.erasure ?? []) {
    if (!isErased) continue
    for (const path of [`/ipfs/${cid}?format=raw`, `/v1/documents/${publicId}`]) {
      const reply = await client.call({ method: 'GET', path }, gateway)
      if (reply === undefined || reply.status === 503) continue
      serves ||= reply.status !== 410
    }
  }
  return serves
}

type Listed = { documentHash: Hex; status: string }

/** @returns All pages of a gateway's list; with a filter, those of one status. */
async function listAll(client: Client, gateway: number, filter = ''): Promise<Listed[]> {
  const all: Listed[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/documents?limit=100${filter}${cursor && `&cursor=${cursor}`}`
    const reply = await client.call({ method: 'GET', path }, gateway)
    if (reply?.status !== 200) throw new Error(`no list: ${reply?.status} ${reply?.text}`)
    const { data } = JSON.parse(reply.text)
    all.push(...data.documents)
    cursor = data.nextCursor
  }
  return all
}

async function judgeLists(
  client: Client,
  promised: readonly Wish[],
  chain: Statuses,
): Promise<string[]> {
  const wrong = client.gateways === 1 ? await judgeFilters(client, promised, chain) : []
  const lists = await Promise.all(
    Array.from({ length: client.gateways }, (_, gateway) => listAll(client, gateway)),
  )
  const listed = new Map<Hex, string[]>()
  for (const { documentHash, status } of lists.flat())
    listed.set(documentHash, [...(listed.get(documentHash) ?? []), status])
  for (const wish of promised) {
    const hash = hashOf(wish)
    const allowed = [
      ...(wish.erasure ? ['erased'] : []),
      ...(chain.recorded.has(hash) ? [statusOf(hash, chain)] : []),
    ]
    const statuses = listed.get(hash) ?? []
    if (statuses.length === 0 || !statuses.every((status) => allowed.includes(status)))
      wrong.push(`${wish.number}: ${statuses.join(' ')}, not ${allowed.join(' or ')}`)
    listed.delete(hash)
  }
  // The remaining documents are in batches, or were requested without an answer. They must not be
  // pending forever.
  for (const [hash, statuses] of listed) if (statuses.includes('pending')) wrong.push(hash)
  return wrong
}

/**
 * Runs before a list without a filter, which corrects the index. One gateway is enough, because
 * each of several knows only its own changes.
 *
 * @returns Documents that are missing in the list of their status, or are in another one.
 */
async function judgeFilters(
  client: Client,
  promised: readonly Wish[],
  chain: Statuses,
): Promise<string[]> {
  const found = new Map<Hex, string[]>()
  for (const status of LISTS)
    for (const { documentHash } of await listAll(client, 0, `&status=${status}`))
      found.set(documentHash, [...(found.get(documentHash) ?? []), status])
  return promised
    .filter((wish) => !wish.erasure && chain.recorded.has(hashOf(wish)))
    .flatMap((wish) => {
      const [status, lists] = [statusOf(hashOf(wish), chain), found.get(hashOf(wish)) ?? []]
      return lists.join() === status ? [] : `${wish.number}: ${status}, listed as [${lists}]`
    })
}

/**
 * Searches for a document by its subjectId at every gateway.
 *
 * @returns Whether none has it, although it was promised; `undefined` when one did not answer.
 */
export async function isNotFound(client: Client, wish: Wish): Promise<boolean | undefined> {
  if (promisesOf(wish).length === 0 || wish.erasure) return undefined
  const hash = hashOf(wish)
  let isFound = false
  for (let gateway = 0; gateway < client.gateways; gateway++) {
    const body = JSON.stringify({ subjectId: wish.number, limit: 100 })
    const call = { method: 'POST', path: '/v1/documents/search', body } as const
    const reply = await client.call(call, gateway)
    if (reply?.status !== 200) return undefined
    const { documents } = JSON.parse(reply.text).data as { documents: Listed[] }
    isFound ||= documents.some(({ documentHash }) => documentHash === hash)
  }
  return wish.erasure ? undefined : !isFound
}

/**
 * Reads the first page of a list.
 *
 * @returns Whether it shows a document as valid that is not on the chain; `undefined` without a
 * list, or when the chain was rewritten meanwhile.
 */
export async function listsUnissued({
  client,
  ledger,
  chain,
}: Pick<World, 'client' | 'ledger' | 'chain'>): Promise<boolean | undefined> {
  const before = chain.rewrites
  const reply = await client.call({ method: 'GET', path: '/v1/documents' })
  if (reply?.status !== 200) return undefined
  const { documents } = JSON.parse(reply.text).data as {
    documents: (Listed & { publicId: string })[]
  }
  const valid = documents.filter(({ status }) => status === 'valid')
  const inBatch = ({ publicId }: { publicId: string }) =>
    publicId !== undefined && decodePublicId(publicId).kind === 'batch'
  const alone = valid.filter((one) => !inBatch(one)).map(({ documentHash }) => documentHash)
  const recorded = await ledger.recorded(alone).catch(() => undefined)
  if (recorded === undefined || chain.rewrites !== before) return undefined
  return alone.some((hash) => !recorded.has(hash))
}
