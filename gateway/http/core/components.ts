import { batchSchema, releasedBatch, revokedBatch, suspendedBatch } from '../resources/batches.ts'
import { issuedSchema, released, revoked, suspended } from '../resources/documents.ts'
import { receipt } from '../resources/erase.ts'
import { event } from '../resources/events.ts'
import { issueBody } from '../resources/issue-body.ts'
import { keySchema, madeKey } from '../resources/keys.ts'
import { searchBody, unopened } from '../resources/list.ts'
import { revocation } from '../resources/revisions.ts'
import { rpcRequest, rpcResponse } from '../resources/rpc.ts'
import * as schemas from '../resources/schemas.ts'
import { successor } from '../resources/supersede.ts'
import { verdict } from '../resources/verify.ts'
import { revealedWebhook, webhookSchema } from '../resources/webhooks.ts'

/**
 * The schemas that /openapi.json names, and with them the types of generated clients. Every other
 * one is written where it is used, and generators make a name for each place.
 */
export const COMPONENTS = {
  NewDocument: issueBody,
  IssuedDocument: issuedSchema,
  Document: schemas.documentSchema,
  UnopenedDocument: unopened,
  RetrievedDocument: schemas.retrieved,
  SuccessorDocument: successor,
  RevokedDocument: revoked,
  SuspendedDocument: suspended,
  ReleasedDocument: released,
  ErasureReceipt: receipt,
  Search: searchBody,
  Revocation: revocation,
  Batch: batchSchema,
  RevokedBatch: revokedBatch,
  SuspendedBatch: suspendedBatch,
  ReleasedBatch: releasedBatch,
  Verdict: verdict,
  Check: schemas.check,
  BlockchainProof: schemas.blockchainProof,
  StateProof: schemas.stateProof,
  Account: schemas.account,
  Event: event,
  EventType: schemas.eventType,
  Webhook: webhookSchema,
  WebhookWithSecret: revealedWebhook,
  ApiKey: keySchema,
  ApiKeyWithSecret: madeKey,
  Scope: schemas.scope,
  PublicId: schemas.publicId,
  Hash: schemas.hash,
  Instant: schemas.instant,
  Status: schemas.status,
  Reason: schemas.reason,
  Finality: schemas.finality,
  Network: schemas.network,
  FieldProblem: schemas.fieldProblem,
  JsonRpcRequest: rpcRequest,
  JsonRpcResponse: rpcResponse,
}
