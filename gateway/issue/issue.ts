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
import { seal } from '../../document/sealed.ts'
import type { Batcher } from './batcher.ts'
import type { Outbox, PayloadStore, Registry } from './ports.ts'

export type IssueRequest = {
  fields: DocumentFields
  tenant: string
  idempotencyKey?: string
  /** Milliseconds to wait for a block; 0 = answer as soon as the promise is durable. */
  wait: number
}

/** `pending`: it will be anchored, whatever happens to this process; `transactionHash` is that of the newest attempt. */
export type Issued = {
  publicId: string
  document: Document
  documentHash: Hex
  status: 'issued' | 'pending'
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
  store: PayloadStore
  outbox: Outbox
  batcher: Batcher
  subkeys: IssuerSubkeys
}): Issuing {
  const { registry, store, outbox, batcher, subkeys } = deps

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

      await Promise.all([
        store.put(sealed.documentHash, sealed.bytes),
        outbox.add(intent, sealed.bytes),
      ])
      const outcome = await batcher.submit(intent, request.wait)
      if (outcome.status === 'taken') continue // by another issuer: seal again

      const { status, transactionHash } = outcome
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
