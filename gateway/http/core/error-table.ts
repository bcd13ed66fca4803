import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { IssueErrorCode } from '#promise/errors.ts'

/** The description of an error for clients. Links in its texts are relative to docs/. */
export type ApiErrorEntry = {
  status: ContentfulStatusCode
  /** After what the same request can succeed; absent: see {@link againOf}. */
  again?: `after ${string}`
  meaning: string
  action: string
}

/** `too_large` of the engine is handled inside `engine/` and never reaches a client. */
type PublicIssueErrorCode = Exclude<IssueErrorCode, 'too_large'>

const REQUEST = {
  bad_request: {
    status: 400,
    meaning: 'The request target or the `Host` header is malformed.',
    action: 'Correct how the client builds its addresses.',
  },
  bad_json: {
    status: 400,
    meaning: 'The body is not [strict JSON](formats.md#1-strict-json) in UTF-8, or it is cut off.',
    action: 'Write it with a JSON library. If the connection broke, send it again.',
  },
  bad_public_id: {
    status: 400,
    meaning: 'The publicId is mistyped, or of a kind that this route does not take.',
    action: 'Copy or scan the whole publicId again.',
  },
  bad_cid: {
    status: 400,
    meaning:
      'The CID after `/ipfs/` is not a CIDv1 of raw and sha2-256 ([formats](formats.md#6-documenthash-cid)).',
    action: 'Send the CID of a sealed document.',
  },
  bad_query: {
    status: 400,
    meaning:
      'A query parameter is missing, repeated, malformed or, on a route that takes a key, unknown. Nothing was done.',
    action: 'Correct the parameters that `details` names.',
  },
  bad_idempotency_key: {
    status: 400,
    meaning:
      '`Idempotency-Key` does not have 1 to 255 printable ASCII characters, in quotes or without.',
    action: 'Send a UUID, for example.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not with this method.',
    action: 'Use a method that the header `Allow` names.',
  },
  not_acceptable: {
    status: 406,
    meaning: '`/ipfs` serves raw blocks only.',
    action: 'Send `?format=raw`, or `Accept: application/vnd.ipld.raw`.',
  },
  too_large: {
    status: 413,
    meaning: 'The body has more bytes than the route accepts; the message has the limit.',
    action: 'Shorten the document, or split the batch or list.',
  },
  not_json: {
    status: 415,
    meaning:
      '`Content-Type` is not `application/json` in UTF-8 (for a batch `application/x-ndjson`), or there is a `Content-Encoding`.',
    action: 'Send JSON without compression.',
  },
  bad_fields: {
    status: 422,
    meaning:
      'Fields are invalid, missing or unknown. `details` has each as `{field, message}`; an entry of `metadata` is `metadata.<key>`.',
    action: 'Show the messages to the person who typed the fields.',
  },
} as const satisfies Record<string, ApiErrorEntry>

const KEY = {
  unauthorized: {
    status: 401,
    again: 'after a change of the key',
    meaning:
      'There is no API key, or it is unknown, revoked or expired; or the session of the desk has ended.',
    action: 'Use another [API key](integrate.md#api-keys), or sign in again.',
  },
  forbidden: {
    status: 403,
    again: 'after a change of the key',
    meaning: 'The API key or person lacks the scope that `WWW-Authenticate` names.',
    action: 'Ask the operator for a key with that scope.',
  },
  category_not_allowed: {
    status: 403,
    again: 'after a change of the key',
    meaning:
      "The API key has a list of categories, which lacks the document's. A key with such a list cannot change a whole batch.",
    action:
      'Ask the operator for a key for this category. Instead of the batch, name its documents.',
  },
  csrf_token_required: {
    status: 403,
    again: 'after a change of the header',
    meaning:
      'The request has the cookie of a session, but not its `X-CSRF-Token`; or it comes from a page of another origin.',
    action: 'Send the `csrfToken` of `GET /v1/session` ([sessions](integrate.md#sessions)).',
  },
  already_rotated: {
    status: 409,
    meaning: 'Another API key, which the message names, has replaced this one.',
    action: 'If its secret was lost, rotate that one.',
  },
  too_many_keys: {
    status: 409,
    again: 'after a key was revoked',
    meaning: 'The service has 10,000 API keys.',
    action: 'Revoke unused ones; the list says when each was last used.',
  },
  invitation_invalid: {
    status: 401,
    meaning: 'The invitation was used or replaced, or has expired.',
    action: 'Ask an administrator for another link.',
  },
  passkey_invalid: {
    status: 401,
    again: 'after new options',
    meaning:
      'The passkey is unknown or was not accepted, or its challenge was used before or is older than five minutes.',
    action: 'Ask for options and try again; or ask an administrator for another link.',
  },
  passkey_required: {
    status: 403,
    again: 'after a passkey was shown',
    meaning:
      'Only the session of an invitation may register a passkey by itself, once, if the person has none.',
    action:
      'Ask for options, and answer their `proof` with a passkey that the person has. If there is none, ask an administrator for another link.',
  },
  person_blocked: {
    status: 403,
    again: 'after an administrator lets the person in again',
    meaning: 'An administrator has blocked the person.',
    action: 'Ask an administrator.',
  },
  provider_refused: {
    status: 401,
    again: 'after signing in there again',
    meaning: 'The identity provider did not confirm who the person is, or the attempt is too old.',
    action: 'Sign in again from the desk.',
  },
  no_role: {
    status: 403,
    again: 'after a change at the provider',
    meaning: 'None of the groups of the person has a role in `OIDC_ROLES`.',
    action: 'Ask whoever manages the groups.',
  },
  provider_unavailable: {
    status: 503,
    meaning: 'The identity provider cannot be reached.',
    action: 'Wait, or sign in with a passkey or link if you have one.',
  },
  provider_decides: {
    status: 409,
    meaning:
      'The identity provider decides name and role of the person: there are no links and passkeys for them, and only the block keeps them out.',
    action: 'Change the groups of the person there. Lift the block before you remove the person.',
  },
  last_administrator: {
    status: 409,
    again: 'after another person became one',
    meaning: 'The person is the only administrator.',
    action: 'Add another administrator first.',
  },
  too_many_people: {
    status: 409,
    again: 'after one was removed',
    meaning: 'There are 1,000 people.',
    action: 'Remove those who no longer need the desk.',
  },
  too_many_passkeys: {
    status: 409,
    again: 'after one was removed',
    meaning: 'The person has 10 passkeys.',
    action: 'Remove unused ones.',
  },
  kind_changed: {
    status: 409,
    meaning:
      'The [kind of documents](integrate.md#kinds) has another version than the change names.',
    action: 'Read it again, and repeat the change on top of that.',
  },
  too_many_kinds: {
    status: 409,
    again: 'after one was removed',
    meaning: 'There are 200 kinds of documents, or 10,000 versions of them.',
    action: 'Remove a kind that is no longer issued. Versions stay.',
  },
  rate_limited: {
    status: 429,
    meaning:
      'The API key, or on public routes the client address, has reached its [limit](integrate.md#rate-limits). Nothing was done.',
    action:
      'Spread requests so that `r` in `RateLimit` stays above 0. The operator can raise the limit of a key.',
  },
} as const satisfies Record<string, ApiErrorEntry>

const DOCUMENT = {
  other_issuer: {
    status: 403,
    meaning: "The document to change is another issuer's.",
    action: 'Change it at a gateway of that issuer.',
  },
  not_found: {
    status: 404,
    meaning:
      "The path is unknown; or the API key's tenant has no such document, batch or webhook; or the key in the publicId does not open the document; or this service does not have the block.",
    action: 'Check the address and the tenant of the key. Another IPFS source may have the block.',
  },
  no_offers: {
    status: 404,
    meaning:
      'The service puts no documents into wallets (`CREDENTIAL_KEY_FILE`), or only for API keys (`WALLET_OFFERS`); or the offer is over.',
    action: 'Ask the issuer for an offer.',
  },
  not_issued: {
    status: 404,
    meaning: 'This issuer never issued the document to change, or its request was refused.',
    action: 'Check the publicId or documentHash.',
  },
  conflict: {
    status: 409,
    meaning:
      'The registry has a record under this documentHash with another expiry. That takes a repeated Idempotency-Key.',
    action: 'To issue the document as it is now, use a new Idempotency-Key.',
  },
  distrusted: {
    status: 409,
    meaning:
      'The registry has the document from an account that the issuer distrusts, because its key was stolen. The gateway does not issue it again.',
    action:
      'Issue it with a new Idempotency-Key, or ask the operator, who [can issue it again](go-live.md#the-theft-of-a-key).',
  },
  already_revoked: {
    status: 409,
    meaning: 'The document is revoked, which is final.',
    action: 'Issue a new one.',
  },
  already_superseded: {
    status: 409,
    meaning: 'The document has another successor, which may still be pending.',
    action: 'Supersede the successor.',
  },
  not_suspended: {
    status: 409,
    meaning: 'The document never was suspended.',
    action: 'There is nothing to release.',
  },
  change_pending: {
    status: 409,
    again: 'after the pending change',
    meaning:
      'The opposite change (suspend or release) was requested and is not on the chain yet. Nothing was promised.',
    action: 'Repeat after a few seconds.',
  },
  too_many_runs: {
    status: 409,
    again: 'after one has ended',
    meaning:
      'The key or person has five [runs](integrate.md#runs) that are not done, its tenant has 40 under way, or the service 200.',
    action: 'Wait for one to end, or remove one that is stopped.',
  },
  too_many_webhooks: {
    status: 409,
    again: 'after one is deleted',
    meaning: 'The tenant has 20 webhooks.',
    action: 'Delete or change one.',
  },
  erased: {
    status: 410,
    meaning:
      'The sealed bytes were [erased](integrate.md#erase) and will not come back, not even with the Idempotency-Key that issued them. The record stays on the chain.',
    action: 'Verify it to see whether it was revoked.',
  },
  unknown_event: {
    status: 410,
    again: 'after a reading without `after`',
    meaning:
      '`after` names an event that is not in the log: it was deleted with its age (`EVENT_RETENTION_DAYS`), or the service was restored from a backup. Later events may be missing too.',
    action:
      "Read from the beginning, without `after`, and skip known ids. Compare what you missed with the documents' status.",
  },
  batch_refused: {
    status: 422,
    meaning:
      'Another line of a [batch](integrate.md#batches) with `atomic=true` is bad, so nothing was issued.',
    action: 'Correct the bad lines, or leave out `atomic=true`.',
  },
  not_valid: {
    status: 409,
    meaning: 'The document to print, or to put into a wallet, is not valid now.',
    action: 'Verify it to see its status.',
  },
  unprintable: {
    status: 422,
    meaning:
      'No certificate can be made of the document: the template is wrong or requires a field that it lacks, a character is in no font, or it takes too long.',
    action: 'The message names the reason. Choose another template.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The Idempotency-Key was used for another document.',
    action: 'Use a new key for a new document.',
  },
} as const satisfies Record<string, ApiErrorEntry>

const SERVICE = {
  internal: {
    status: 500,
    meaning: 'There is a bug. Whether anything was done is unknown.',
    action:
      'Report the `requestId` to the operator, whose log has the place in the code. Repeat only with an Idempotency-Key.',
  },
  certificates_unavailable: {
    status: 501,
    again: 'after the operator installed it',
    meaning: 'This service makes no certificates: it has no engine, no font, or no template.',
    action: 'Operators: [install the engine](operate.md#certificates).',
  },
  fonts_missing: {
    status: 501,
    again: 'after the operator installed them',
    meaning: 'The service lacks the fonts for a script of the document to print.',
    action:
      'The message names the script. Operators: [install its fonts](operate.md#certificates).',
  },
  unverifiable: {
    status: 503,
    meaning: 'The document could not be checked now, which says nothing about its validity.',
    action:
      'Look for the [check](formats.md#11-the-checks) in `details` that is `unknown`: its code is the reason.',
  },
  chain_unavailable: {
    status: 503,
    meaning: 'No node answered, or the answer was an error.',
    action: 'Operators: see `/readyz`, and add nodes to `RPC_URL`.',
  },
  registry_refused: {
    status: 503,
    meaning:
      'The registry or the chain refuses this gateway: its account is retired, has code or lacks permission or funds, the issuer is closed, the chain is wrong, or the call reverts.',
    action: 'Operators: remove the cause, which is in the log.',
  },
  fee_too_high: {
    status: 503,
    meaning:
      'Fees are above a cap: `MAX_FEE_GWEI`, `MAX_TRANSACTION_FEE_ETHER` or `MAX_HOURLY_FEE_ETHER`. What was accepted waits until fees fall.',
    action: 'Operators: wait, or raise the caps.',
  },
  overloaded: {
    status: 503,
    meaning:
      'Too many requests wait for the chain (10,000), or too many [batches](integrate.md#batches) or [lists of changes](integrate.md#many-changes) of this tenant, or of all, are under way.',
    action: 'Repeat with growing pauses.',
  },
  store_unavailable: {
    status: 503,
    meaning: 'The disk or PostgreSQL does not take or return data.',
    action:
      'Operators: look for a full disk, for PostgreSQL that is down, or for `issuing_closed` in the log.',
  },
  outcome_unknown: {
    status: 503,
    meaning:
      'The database was asked to commit, and its answer was lost until the time of the request was over. What was asked for may still be done.',
    action:
      'Repeat with the same [Idempotency-Key](integrate.md#idempotency-key). Without one, [search](integrate.md#list-and-search) for the document first: a repeat may issue a second one. Changes can be repeated.',
  },
  signer_unavailable: {
    status: 503,
    meaning: 'The remote signer does not answer, refuses, or signs something else.',
    action: 'Operators: mend the signer.',
  },
  account_shared: {
    status: 503,
    meaning: "Another program writes with this gateway's account. Only `/readyz` says so.",
    action:
      'Operators: give each gateway [an account of its own](operate.md#several-gateways-each-with-a-database-of-its-own).',
  },
  stopping: {
    status: 503,
    meaning: 'The service is stopping.',
    action: 'Repeat: its successor, or another gateway, takes the request.',
  },
} as const satisfies Record<string, ApiErrorEntry>

export const ERRORS = {
  ...REQUEST,
  ...KEY,
  ...DOCUMENT,
  ...SERVICE,
} as const satisfies Record<string, ApiErrorEntry> & Record<PublicIssueErrorCode, ApiErrorEntry>

export type ApiErrorCode = keyof typeof ERRORS

/** @returns Whether the same request can succeed later; `yes`: after the seconds in `Retry-After`. */
export function againOf({ status, again }: ApiErrorEntry): string {
  return again ?? (status === 429 || status === 503 ? 'yes' : 'no')
}

/** The same errors as docs/errors.md and /docs group them. */
export const ERROR_GROUPS: readonly { title: string; errors: Record<string, ApiErrorEntry> }[] = [
  { title: 'The request', errors: REQUEST },
  { title: 'The key or session', errors: KEY },
  { title: 'The document', errors: DOCUMENT },
  { title: 'The service', errors: SERVICE },
]

/** The rules for all errors, in paragraphs. */
export const ABOUT_ERRORS = [
  'Every failure of the REST API has one of these codes in `error.code` ([the envelope](integrate.md#envelope)). Codes are stable: switch on them, not on messages. `/rpc` has the [codes of JSON-RPC](integrate.md#rpc) instead.',
  'After 429 and 503 the same request can succeed later: wait for the seconds in `Retry-After`. Any other needs a change first, or fails again. A 503 to a request that issues or changes a document means that nothing was done and nothing will be; only `outcome_unknown` leaves that open.',
  'A request without an answer may have been carried out. Repeat one that issues with the same [Idempotency-Key](integrate.md#idempotency-key).',
]
