import {
  type Document,
  type DocumentFields,
  encodeDocument,
  validUntilOf,
} from '../../document/document.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import {
  deriveSealingKeys,
  type IssuerSubkeys,
  idempotentSalt,
  randomSalt,
} from '../../document/keys.ts'
import { encodePublicId } from '../../document/public-id.ts'
import type { Seal, Sealed } from '../../document/sealed.ts'
import type { ChainReader, RegistryStatus } from '../../verifier/ports.ts'
import type { Answer, Batcher } from './batcher.ts'
import { claimKey } from './idempotency.ts'
import { type Outcome, outcomesOf } from './outcome.ts'
import type {
  IdempotencyLog,
  Intent,
  Outbox,
  PayloadStore,
  Registry,
} from './ports.ts'

export type IssueRequest = {
  fields: DocumentFields
  tenant: string
  idempotencyKey?: string
  /** Milliseconds to wait for a block; 0 = answer as soon as the promise is durable. */
  wait: number
}

/** `pending`: it will be anchored, whatever happens to this process; `transactionHash` is that of the newest attempt, if any. */
export type Issued = {
  publicId: string
  document: Document
  documentHash: Hex
  status: RegistryStatus | 'pending'
  transactionHash: Hex | null
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
  store: PayloadStore
  outbox: Outbox
  idempotency: IdempotencyLog
  batcher: Batcher
  subkeys: IssuerSubkeys
  seal: Seal
}): Issuing {
  const { registry, chain, store, outbox, idempotency, batcher } = deps
  const { subkeys, seal } = deps

  async function issue(request: IssueRequest): Promise<Issued> {
    const document = bind(request.fields)
    for (let attempt = 0; ; attempt++) {
      batcher.assertOpen()
      const sealed = await sealDocument(document, request, attempt)
      const documentHash = toHex(sealed.documentHash)
      if (attempt === 0)
        await claimKey(idempotency, subkeys, request, documentHash)
      const intent = {
        kind: 'issue',
        documentHash,
        validUntil: validUntilOf(document),
      } as const

      const answer =
        (await alreadyThere(intent, request)) ??
        (await promise(intent, sealed, request.wait))
      if (answer.status === 'taken') continue // by another issuer: seal again

      const status =
        answer.status === 'pending'
          ? 'pending'
          : await statusOf(intent, request)
      const { publicId } = sealed
      const { transactionHash } = answer
      return { publicId, document, documentHash, status, transactionHash }
    }
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
    attempt: number,
  ): Promise<Sealed & { publicId: string }> {
    const bytes = encodeDocument(document)
    const salt =
      idempotencyKey === undefined
        ? randomSalt()
        : idempotentSalt(subkeys, {
            tenant,
            idempotencyKey,
            itemIndex: 0,
            attempt,
            document: bytes,
          })
    const keys = deriveSealingKeys(subkeys, salt)
    const sealed = await seal(bytes, keys)
    const publicId = encodePublicId({
      kind: 'single',
      hash: sealed.documentHash,
      documentKey: keys.documentKey,
    })
    return { ...sealed, publicId }
  }

  /** Only a request with an idempotency key can have been anchored before: by this gateway, or another of the issuer. */
  async function alreadyThere(
    intent: Intent,
    { idempotencyKey }: IssueRequest,
  ): Promise<Exclude<Outcome, { status: 'absent' }> | undefined> {
    if (idempotencyKey === undefined) return undefined
    const [outcome] = await outcomesOf(registry, [intent])
    return outcome?.status === 'absent' ? undefined : outcome
  }

  async function promise(
    intent: Intent,
    sealed: Sealed,
    wait: number,
  ): Promise<Answer> {
    await Promise.all([
      store.put(sealed.documentHash, sealed.bytes),
      outbox.add(intent, sealed.bytes),
    ])
    return batcher.submit(intent, wait)
  }

  /** A new document is valid until it expires; one asked for again may have been revoked since. */
  async function statusOf(
    { documentHash, validUntil }: Intent & { kind: 'issue' },
    { idempotencyKey }: IssueRequest,
  ): Promise<Issued['status']> {
    if (idempotencyKey !== undefined)
      return chain.read(documentHash).then(
        ({ status }) => status,
        () => 'pending',
      )
    const expired = validUntil !== 0 && Date.now() / 1000 >= validUntil
    return expired ? 'expired' : 'valid'
  }

  return { issue }
}
