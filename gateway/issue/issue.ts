import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Document,
  type DocumentFields,
  encodeDocument,
  validUntilOf,
} from '../../document/document.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import type { Hkdf } from '../../document/hkdf.ts'
import {
  deriveSealingKeys,
  type IssuerSubkeys,
  idempotentSalt,
  randomSalt,
} from '../../document/keys.ts'
import { encodePublicId } from '../../document/public-id.ts'
import type { Seal, Sealed } from '../../document/sealed.ts'
import {
  type ChainReader,
  FINALITIES,
  type Finality,
  type RegistryStatus,
} from '../../verifier/ports.ts'
import type { Deadline } from '../deadline.ts'
import type { Batcher } from './batcher.ts'
import { asIssueError, IssueError } from './errors.ts'
import { claimKey } from './idempotency.ts'
import type { Keep } from './keep.ts'
import { type Outcome, outcomesOf } from './outcome.ts'
import { createPace } from './pace.ts'
import type { IdempotencyLog, Intent, Registry } from './ports.ts'
import type { Answer } from './waiters.ts'

/** Documents that are sealed in one turn of the event loop: some 1 ms. */
const SEALED_A_TURN = 16
/** Between looks at how final a block is; milliseconds. */
const FINALITY_POLL = 250

export type IssueRequest = {
  fields: DocumentFields
  tenant: string
  idempotencyKey?: string
  /** Milliseconds to wait for a block; 0 = answer as soon as the promise is durable. */
  wait: number
  /** Ends the wait too, and what is read before and after it. */
  deadline: Deadline
  /** How final that block has to be before the answer, within the same wait. */
  finality: Finality
}

/** `pending`: it will be anchored, whatever happens to this process; `transactionHash` is that of the newest attempt, if any. */
export type Issued = {
  publicId: string
  document: Document
  documentHash: Hex
  status: RegistryStatus | 'pending'
  transactionHash: Hex | null
  /** `null` while it is pending, or when it could not be read. */
  finality: Finality | null
}

export type Issuing = { issue(request: IssueRequest): Promise<Issued> }

/**
 * Issues documents. The order is the safety property: payload before chain, outbox before broadcast, answer after the
 * registry shows it.
 *
 * `issue` rejects with an `IssueError` when nothing was promised.
 */
export function createIssuing(deps: {
  registry: Registry
  chain: ChainReader
  keep: Keep
  idempotency: IdempotencyLog
  batcher: Batcher
  subkeys: IssuerSubkeys
  seal: Seal
  hkdf: Hkdf
}): Issuing {
  const { registry, chain, keep, idempotency, batcher } = deps
  const { subkeys, seal, hkdf } = deps
  const pace = createPace(SEALED_A_TURN)

  async function issue(request: IssueRequest): Promise<Issued> {
    const started = performance.now()
    const document = bind(request.fields)
    await pace()
    batcher.assertOpen()
    const sealed = await sealDocument(document, request)
    const documentHash = toHex(sealed.documentHash)
    await claimKey(idempotency, subkeys, request, documentHash)
    const intent = {
      kind: 'issue',
      documentHash,
      validUntil: validUntilOf(document),
    } as const

    const answer =
      (await alreadyThere(intent, request)) ??
      (await promise(intent, sealed, request))
    if (answer.status === 'taken')
      throw new IssueError('registry_refused', 'another issuer has the hash')

    const status =
      answer.status === 'pending' ? 'pending' : await statusOf(intent, request)
    const { publicId } = sealed
    const { transactionHash } = answer
    const issued = {
      publicId,
      document,
      documentHash,
      status,
      transactionHash,
    }
    if (status === 'pending') return { ...issued, finality: null }
    const finality = await reached(documentHash, request, started)
    return { ...issued, finality }
  }

  function bind(fields: DocumentFields): Document {
    return {
      ...fields,
      registry: registry.registry,
      issuerId: registry.issuerId,
    }
  }

  async function sealDocument(
    document: Document,
    { tenant, idempotencyKey }: IssueRequest,
  ): Promise<Sealed & { publicId: string }> {
    const salt =
      idempotencyKey === undefined
        ? randomSalt()
        : idempotentSalt(subkeys, {
            tenant,
            idempotencyKey,
            itemIndex: 0,
            document: encodeDocument(document),
          })
    const keys = deriveSealingKeys(subkeys, salt, hkdf)
    const sealed = await seal(document, keys)
    const publicId = encodePublicId({
      kind: 'single',
      issuerId: document.issuerId,
      hash: sealed.documentHash,
      documentKey: keys.documentKey,
    })
    return { ...sealed, publicId }
  }

  /** Only a request with an idempotency key can have been anchored before: by this gateway, or another of the issuer. */
  async function alreadyThere(
    intent: Intent,
    { idempotencyKey, deadline }: IssueRequest,
  ): Promise<Exclude<Outcome, { status: 'absent' }> | undefined> {
    if (idempotencyKey === undefined) return undefined
    const [outcome] = await deadline
      .within(() => outcomesOf(registry, [intent]))
      .catch((error) => {
        throw asIssueError(error)
      })
    return outcome?.status === 'absent' ? undefined : outcome
  }

  async function promise(
    intent: Intent,
    sealed: Sealed,
    { wait, deadline }: IssueRequest,
  ): Promise<Answer> {
    await keep(intent, sealed)
    return batcher.submit(intent, Math.min(wait, deadline.left()))
  }

  /** A new document is valid until it expires; one asked for again may have been revoked since. */
  async function statusOf(
    { documentHash, validUntil }: Intent & { kind: 'issue' },
    { idempotencyKey, deadline }: IssueRequest,
  ): Promise<Issued['status']> {
    if (idempotencyKey !== undefined)
      return deadline
        .within((signal) => chain.read(documentHash, { signal }))
        .then(
          ({ status }) => status,
          () => 'pending',
        )
    const expired = validUntil !== 0 && Date.now() / 1000 >= validUntil
    return expired ? 'expired' : 'valid'
  }

  /** Waits until the document's block is as final as was asked for. @returns How final it is then. */
  async function reached(
    documentHash: Hex,
    { finality, wait, deadline }: IssueRequest,
    started: number,
  ): Promise<Finality | null> {
    if (finality === 'included') return 'included'
    while (true) {
      const now = await deadline
        .within(async (signal) => {
          const { record } = await chain.read(documentHash, { signal })
          return chain.finalityOf(record.anchoredBlock, { signal })
        })
        .catch(() => null)
      const enough =
        now !== null && FINALITIES.indexOf(now) >= FINALITIES.indexOf(finality)
      if (enough || performance.now() - started >= wait) return now
      await sleep(FINALITY_POLL)
    }
  }

  return { issue }
}
