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
import { type Sealed, seal } from '../../document/sealed.ts'
import type { RegistryStatus } from '../../verifier/ports.ts'
import type { Answer, Batcher } from './batcher.ts'
import type { Keep } from './keep.ts'
import { type Outcome, outcomesOf } from './outcome.ts'
import type { Intent, Registry } from './ports.ts'

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
 * registry shows it (design §4).
 *
 * `issue` rejects with an `IssueError` when nothing was promised.
 */
export function createIssuing(deps: {
  registry: Registry
  keep: Keep
  batcher: Batcher
  subkeys: IssuerSubkeys
}): Issuing {
  const { registry, keep, batcher, subkeys } = deps

  async function issue(request: IssueRequest): Promise<Issued> {
    const document = bind(request.fields)
    for (let attempt = 0; ; attempt++) {
      batcher.assertOpen()
      const { sealed, publicId } = await sealDocument(
        document,
        request,
        attempt,
      )
      const documentHash = toHex(sealed.documentHash)
      const validUntil = validUntilOf(document)
      const intent = { kind: 'issue', documentHash, validUntil } as const

      const answer =
        (await alreadyThere(intent, request)) ??
        (await promise(intent, sealed, request.wait))
      if (answer.status === 'taken') continue // by another issuer: seal again

      const status =
        answer.status === 'pending'
          ? 'pending'
          : await statusOf(intent, request)
      const { transactionHash } = answer
      return { publicId, document, documentHash, status, transactionHash }
    }
  }

  async function promise(
    intent: Intent,
    sealed: Sealed,
    wait: number,
  ): Promise<Answer> {
    await keep(intent, sealed)
    return batcher.submit(intent, wait)
  }

  /** Only a request with an idempotency key can have been anchored before. */
  async function alreadyThere(
    { documentHash }: Intent,
    { idempotencyKey }: IssueRequest,
  ): Promise<Outcome | undefined> {
    if (idempotencyKey === undefined) return undefined
    const [outcome] = await outcomesOf(registry, [documentHash])
    return outcome
  }

  /** A new document is valid until it expires; one asked for again may have been revoked since. */
  function statusOf(
    { documentHash, validUntil }: Intent,
    { idempotencyKey }: IssueRequest,
  ): Issued['status'] | Promise<Issued['status']> {
    if (idempotencyKey !== undefined)
      return registry.statusOf(documentHash).catch(() => 'pending' as const)
    const expired = validUntil !== 0 && Date.now() / 1000 >= validUntil
    return expired ? 'expired' : 'valid'
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
  ) {
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
    return { sealed, publicId }
  }

  return { issue }
}
