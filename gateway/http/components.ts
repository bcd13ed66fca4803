import { issueBody } from './issue-body.ts'
import { revocation } from './revisions.ts'
import { batch, releasedBatch, revokedBatch, suspendedBatch } from './routes/batch-operations.ts'
import { issued, released, revoked, suspended } from './routes/document-operations.ts'
import { receipt } from './routes/erase.ts'
import { event } from './routes/events.ts'
import { keySchema, madeKey } from './routes/key-operations.ts'
import { searchBody, unopened } from './routes/list.ts'
import { rpcRequest, rpcResponse } from './routes/rpc.ts'
import { successor } from './routes/supersede.ts'
import { verdict } from './routes/verify.ts'
import { revealedWebhook, webhookSchema } from './routes/webhook-operations.ts'
import * as schemas from './schemas.ts'

/**
 * The schemas that /openapi.json names, and with them the types of generated clients. Every other
 * one is written where it is used, and generators make a name for each place.
 */
export const COMPONENTS = {
  NewDocument: issueBody,
  IssuedDocument: issued,
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
  Batch: batch,
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
