// What both databases keep, and in which form. The tables and columns have the same names.

/**
 * What a column holds. In SQLite and PostgreSQL it is:
 *
 * - `integer`: INTEGER and bigint, or any other number;
 * - `decimal`: a TEXT of digits and numeric;
 * - `text`: TEXT and text;
 * - `bytes`: BLOB and bytea;
 * - `hex`: TEXT of `0x…` and bytea;
 * - `flag`: 0 or 1, and boolean;
 * - `json`: TEXT and jsonb;
 * - `texts`: TEXT, a JSON array, and text[].
 */
export type Kind = 'integer' | 'decimal' | 'text' | 'bytes' | 'hex' | 'flag' | 'json' | 'texts'

export type Table = {
  name: string
  columns: Readonly<Record<string, Kind>>
  /** The column that the database numbers; numbers are never used again. */
  numbered?: string
  /** SQLite alone may have several rows of one key: the first counts. This column tells which. */
  repeats?: string
  /** The order of SQLite's rows; absent = as they are stored. */
  order?: string
}

/** Found by hash: the numbers of rows stay behind. */
export const BLOCKS: Table = {
  name: 'block',
  columns: { hash: 'bytes', bytes: 'bytes' },
  repeats: 'hash',
}

const PAYLOADS: Table[] = [
  { name: 'tombstone', columns: { hash: 'bytes' } },
  BLOCKS,
  {
    name: 'erasure',
    columns: {
      ...{ hash: 'bytes', requested_at: 'integer', erased_at: 'integer', tenant: 'text' },
      ...{ from_database: 'flag', from_kubo: 'flag' },
    },
  },
]

const OUTBOX: Table[] = [
  {
    name: 'plan',
    columns: { id: 'integer', nonce: 'integer', head: 'integer' },
    numbered: 'id',
  },
  {
    name: 'attempt',
    columns: {
      ...{ id: 'integer', plan: 'integer', hash: 'hex', raw: 'hex', gas_limit: 'integer' },
      ...{ max_fee_per_gas: 'decimal', max_priority_fee_per_gas: 'decimal' },
    },
    numbered: 'id',
  },
  {
    name: 'intent',
    columns: {
      ...{ id: 'integer', kind: 'text', document_hash: 'hex', root: 'hex' },
      ...{ valid_until: 'integer', manifest: 'hex', reason: 'integer', inserted: 'flag' },
      ...{ sealed: 'bytes', promised: 'flag', aside_until: 'integer', plan: 'integer' },
      ...{ block_number: 'integer', block_hash: 'hex', transaction_hash: 'hex' },
      ...{ tenant: 'text', reported: 'flag' },
    },
    numbered: 'id',
  },
  {
    name: 'anchor_block',
    columns: { block_number: 'integer', block_hash: 'hex', seen: 'flag' },
  },
  { name: 'fee', columns: { minute: 'integer', gwei: 'integer' } },
  {
    name: 'idempotency',
    columns: { key: 'bytes', period: 'integer', document_hash: 'bytes' },
    repeats: 'key',
    // The newest use of a key counts.
    order: 'period DESC, key',
  },
]

export const HISTORY: Table = {
  name: 'history',
  columns: { block_number: 'integer', document_hash: 'bytes', transaction_hash: 'bytes' },
}
export const BATCH_HISTORY: Table = {
  name: 'batch_history',
  columns: { block_number: 'integer', root: 'bytes', transaction_hash: 'bytes' },
}

const DOCUMENTS: Table[] = [
  HISTORY,
  BATCH_HISTORY,
  {
    name: 'batch_request',
    columns: { request: 'bytes', content: 'bytes', checked_at: 'integer', promised: 'flag' },
  },
  {
    name: 'batch',
    columns: {
      ...{ id: 'integer', root: 'bytes', size: 'integer', manifest: 'bytes', tenant: 'text' },
      ...{ promised: 'flag', promised_at: 'integer', block_number: 'integer', status: 'integer' },
    },
    numbered: 'id',
  },
  {
    name: 'document',
    columns: {
      ...{ id: 'integer', document_hash: 'bytes', batch_block: 'bytes', batch: 'integer' },
      ...{ block_number: 'integer', status: 'integer', issued_on: 'integer' },
      ...{ valid_until: 'integer', subject: 'integer', category: 'integer', tenant: 'integer' },
      created_at: 'integer',
    },
    numbered: 'id',
    repeats: 'id',
  },
  { name: 'document_index', columns: { first: 'integer' } },
  {
    name: 'succession',
    columns: { document_hash: 'bytes', successor_hash: 'bytes', root: 'bytes', revoked: 'flag' },
  },
]

const EVENTS: Table[] = [
  {
    name: 'event',
    columns: {
      ...{ id: 'integer', type: 'text', time: 'integer', document_hash: 'bytes' },
      ...{ block_number: 'integer', block_hash: 'bytes', transaction_hash: 'bytes' },
      ...{ tenant: 'text', owner: 'integer' },
    },
    numbered: 'id',
  },
  {
    name: 'webhook',
    columns: {
      ...{ id: 'text', tenant: 'text', created_by: 'text', created_at: 'integer', url: 'text' },
      ...{ types: 'texts', secrets: 'json', disabled_reason: 'text' },
      ...{ failing_since: 'integer', cursor: 'integer', epoch: 'integer' },
    },
  },
  {
    name: 'delivery',
    columns: {
      ...{ webhook: 'text', document_hash: 'bytes', event: 'integer', attempts: 'integer' },
      ...{ failed_since: 'integer', next_at: 'integer' },
    },
  },
]

/** What requests of batches stored before their batches were promised; `hashes` of the blocks. */
export const DRAFTS: Table = {
  name: 'batch_draft',
  columns: {
    ...{ id: 'integer', request: 'bytes', hashes: 'bytes', kubo_root: 'bytes' },
    ...{ batch: 'integer' },
  },
  numbered: 'id',
}

/** In a file of its own beside SQLite's. */
export const KEYS: Table = {
  name: 'api_key',
  columns: {
    ...{ position: 'integer', id: 'text', digest: 'text', tenant: 'text', scopes: 'text' },
    ...{ label: 'text', categories: 'text', rate_limit: 'integer', created_at: 'text' },
    ...{ expires_at: 'text', last_used_at: 'text', replaced_by: 'text' },
  },
  numbered: 'position',
}

/** Everything that moves, in an order in which rows follow those that they refer to. */
export const TABLES: readonly Table[] = [
  ...PAYLOADS,
  DRAFTS,
  ...OUTBOX,
  ...DOCUMENTS,
  ...EVENTS,
  KEYS,
]

/**
 * What stays behind in each database: the owner, which the copy gets by itself, and what is of that
 * database alone.
 */
export const STAYS = {
  sqlite: {
    tables: ['bound_to', 'issuer_secret', 'probe', 'key_run', 'sorted_key', 'change'],
    columns: ['block.id', 'erasure.probe', 'batch_draft.first_block', 'batch_draft.last_block'],
  },
  postgres: {
    tables: ['bound_to', 'issuer_secret', 'schema_version', 'lease', 'rate', 'key_change'],
    columns: [
      ...['plan.account', 'intent.account', 'erasure.written_by', 'batch.created_at'],
      'batch_draft.created_at',
    ],
  },
} as const
