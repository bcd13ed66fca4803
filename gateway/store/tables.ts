// The tables of both databases, from which each makes its own schema.
import type { Dialect, Kind, Values } from './sql.ts'

export type Column =
  | Kind
  /** The value may be NULL. */
  | `${Kind}?`
  | { kind: Kind; default: string }

export type Index = {
  /** Columns or expressions. */
  on: string
  where?: string
  unique?: true
}

export type Table = {
  name: string
  columns: Readonly<Record<string, Column>>
  /** The column that the database numbers. Numbers are never reused. */
  numbered?: string
  /** The primary key, unless rows are numbered. */
  key?: readonly string[]
  unique?: readonly (readonly string[])[]
  references?: Readonly<Record<string, string>>
  indexes?: Readonly<Record<string, Index>>
  /** The only database that has the table. */
  only?: Dialect['name']
  /** Columns that only one database fills, or that are about this copy of the database. */
  local?: readonly string[]
}

/**
 * The version of the schema. A database of another version is refused and not converted. Whatever
 * changes the tables, or what a row means, raises it.
 */
export const SCHEMA_VERSION = 17

const NO_BYTES = "''"

/** The owner of the documents and promises. */
const OWNER: Table[] = [
  { name: 'bound_to', columns: { registry: 'text', issuer_id: 'integer' }, key: ['registry'] },
  {
    name: 'issuer_secret',
    columns: { id: 'integer', fingerprint: 'text' },
    numbered: 'id',
    unique: [['fingerprint']],
  },
]

/** Payloads in the database, by their sha-256. */
export const BLOCKS: Table = {
  name: 'block',
  columns: { hash: 'bytes', bytes: 'bytes' },
  // The hash is not the key of SQLite's tree, because its inner pages would then contain the bytes.
  unique: [['hash']],
}

const PAYLOADS: Table[] = [
  { name: 'tombstone', columns: { hash: 'bytes' }, key: ['hash'] },
  BLOCKS,
  {
    // The receipts of erasures.
    name: 'erasure',
    columns: {
      hash: 'bytes',
      requested_at: 'integer',
      erased_at: 'integer?',
      from_database: 'flag',
      from_kubo: 'flag',
      tenant: 'text?',
      // With SQLite, the end of a document that may not be gone yet, with each byte inverted.
      probe: 'bytes?',
      // With PostgreSQL, the transaction that wrote the tombstone. Earlier ones may still be adding
      // the document.
      written_by: 'integer?',
    },
    key: ['hash'],
    indexes: { erasure_unfinished: { on: 'requested_at', where: 'erased_at IS NULL' } },
    local: ['probe', 'written_by'],
  },
]

const OUTBOX: Table[] = [
  {
    name: 'plan',
    columns: {
      id: 'integer',
      // The address of the account that sends it; NULL = no account has claimed it yet.
      account: 'bytes?',
      nonce: 'integer',
      // For suspensions and releases, the newest block when it was planned.
      head: 'integer?',
    },
    numbered: 'id',
    indexes: { plan_by_account: { on: 'account' } },
  },
  {
    name: 'attempt',
    columns: {
      id: 'integer',
      plan: 'integer',
      hash: 'bytes',
      raw: 'bytes',
      gas_limit: 'integer',
      // The value is text, because wei may have more than 64 bits.
      max_fee_per_gas: 'text',
      max_priority_fee_per_gas: 'text',
    },
    numbered: 'id',
    references: { plan: 'plan (id) ON DELETE CASCADE' },
    indexes: { attempt_by_plan: { on: 'plan' } },
  },
  {
    name: 'intent',
    columns: {
      id: 'integer',
      account: 'bytes?',
      kind: 'text',
      // The hash of a document, or the root of a batch, which is then in both columns.
      document_hash: 'bytes',
      root: 'bytes?',
      valid_until: 'integer?',
      manifest: 'bytes?',
      reason: 'integer?',
      sealed: 'bytes?',
      // When it is tried again after a refusal, and how often it was refused.
      aside_until: 'integer?',
      tries: { kind: 'integer', default: '0' },
      plan: 'integer?',
      block_number: 'integer?',
      // Empty until the block has been read.
      block_hash: { kind: 'bytes', default: NO_BYTES },
      transaction_hash: 'bytes?',
      tenant: 'text?',
      reported: 'flag',
    },
    numbered: 'id',
    unique: [['document_hash', 'kind']],
    references: { plan: 'plan (id) ON DELETE SET NULL' },
    // Most intents wait for their block to become final, and are in few of these indexes.
    indexes: {
      intent_by_plan: { on: 'plan', where: 'plan IS NOT NULL' },
      intent_queued: { on: 'id', where: 'plan IS NULL AND block_number IS NULL' },
      intent_unclaimed: {
        on: 'id',
        where: 'account IS NULL AND plan IS NULL AND block_number IS NULL',
      },
      intent_sealed: { on: 'id', where: 'sealed IS NOT NULL' },
      intent_by_block: { on: 'block_number, block_hash', where: 'block_number IS NOT NULL' },
    },
  },
  {
    // The blocks of anchored intents; `seen` = the chain had the block when it was last read.
    name: 'anchor_block',
    columns: { block_number: 'integer', block_hash: 'bytes', seen: 'flag' },
    key: ['block_number', 'block_hash'],
    indexes: {
      anchor_block_unseen: { on: 'block_number, block_hash', where: 'NOT seen' },
      anchor_block_seen: { on: 'block_number, block_hash', where: 'seen' },
    },
  },
  { name: 'fee', columns: { minute: 'integer', gwei: 'integer' }, key: ['minute'] },
  {
    // `period` is that of the claim. A key is remembered until the end of the next period. Old keys
    // of a period are deleted together.
    name: 'idempotency',
    columns: { key: 'bytes', period: 'integer', document_hash: 'bytes' },
    key: ['key'],
    indexes: { idempotency_by_period: { on: 'period' } },
  },
]

/** The statuses in the index by their code in the tables. */
export const KEPT_STATUSES = [null, 'suspended', 'revoked', 'superseded', 'distrusted'] as const

/**
 * The anchoring of each document that was in this outbox, kept permanently because nodes drop old
 * events. It is in the order of blocks, so that the rows of a transaction share pages.
 */
export const HISTORY: Table = {
  name: 'history',
  columns: { block_number: 'integer', document_hash: 'bytes', transaction_hash: 'bytes?' },
  key: ['block_number', 'document_hash'],
}
export const BATCH_HISTORY: Table = {
  name: 'batch_history',
  columns: { block_number: 'integer', root: 'bytes', transaction_hash: 'bytes?' },
  key: ['block_number', 'root'],
}

/**
 * The data that the request of a batch stored before the batch was promised: the hashes of some
 * blocks, one after another; or the CID of their group on a Kubo node; or the batch's documents in
 * the index.
 */
const DRAFTS: Table = {
  name: 'batch_draft',
  columns: {
    id: 'integer',
    request: 'bytes',
    hashes: 'bytes?',
    kubo_root: 'bytes?',
    batch: 'integer?',
  },
  numbered: 'id',
  indexes: { batch_draft_by_request: { on: 'request' } },
}

const DOCUMENTS: Table[] = [
  HISTORY,
  BATCH_HISTORY,
  {
    // The first use of each key of a request for a batch, kept permanently like the salts that
    // depend on the key.
    name: 'batch_request',
    columns: { request: 'bytes', content: 'bytes', checked_at: 'integer', promised: 'flag' },
    key: ['request'],
  },
  {
    // The batches that were promised, and those whose documents are being added to the index.
    // `status` is that of the whole batch, as in the table document. Times are in seconds of the
    // Unix epoch.
    name: 'batch',
    columns: {
      id: 'integer',
      root: 'bytes',
      size: 'integer',
      manifest: 'bytes',
      tenant: 'text',
      promised: 'flag',
      promised_at: 'integer?',
      block_number: 'integer?',
      status: { kind: 'integer', default: '0' },
      created_at: 'integer?',
    },
    numbered: 'id',
    unique: [['root']],
    indexes: {
      batch_unpromised: { on: 'id', where: 'NOT promised' },
      batch_pending: { on: 'id', where: 'block_number IS NULL' },
      batch_by_status: { on: 'status', where: 'status <> 0' },
    },
    local: ['created_at'],
  },
  {
    // The index of documents for lists and searches, without names; see
    // gateway/promise/document-index.ts. Rows are in the order in which documents were requested.
    name: 'document',
    columns: {
      id: 'integer',
      document_hash: 'bytes',
      // For a document in a batch, its batch block, and the id of the batch, which may not be
      // promised yet.
      batch_block: 'bytes?',
      batch: 'integer?',
      // NULL while it is not on the chain, and for a document in a batch, because the batch has it.
      block_number: 'integer?',
      // The status that the gateways know: its place in KEPT_STATUSES.
      status: { kind: 'integer', default: '0' },
      issued_on: 'integer',
      valid_until: 'integer',
      subject: 'integer?',
      category: 'integer?',
      tenant: 'integer?',
      // When it was promised, in seconds of the Unix epoch. NULL for a document in a batch, because
      // the batch has it.
      created_at: 'integer?',
      // Who issued it; see gateway/promise/acts.ts. NULL for a document in a batch.
      actor: 'text?',
    },
    numbered: 'id',
    indexes: {
      document_by_hash: { on: 'document_hash, coalesce(batch, 0)', unique: true },
      document_by_subject: { on: 'subject, id', where: 'subject IS NOT NULL' },
      document_by_category: { on: 'category, id' },
      document_by_tenant: { on: 'tenant, id' },
      document_by_day: { on: '(created_at / 86400), id', where: 'created_at IS NOT NULL' },
      document_by_batch: { on: 'batch, id', where: 'batch IS NOT NULL' },
      document_pending: { on: 'id', where: 'block_number IS NULL AND batch IS NULL' },
      document_by_status: { on: 'status, id', where: 'status <> 0' },
    },
  },
  // Rows below this belong to an index that was dropped, and so do cursors.
  { name: 'document_index', columns: { first: 'integer' }, key: ['first'] },
  {
    // Documents that were superseded here, written with the intent to issue the successor. Once
    // that is on the chain, the revocation is promised in the same transaction.
    name: 'succession',
    columns: {
      document_hash: 'bytes',
      successor_hash: 'bytes',
      // The root, for a document in a batch.
      root: 'bytes?',
      revoked: 'flag',
    },
    key: ['document_hash'],
    unique: [['successor_hash']],
    indexes: { succession_open: { on: 'document_hash', where: 'NOT revoked' } },
  },
]

/** Who did what with documents and batches, apart from issuing single documents. */
const ACTS: Table = {
  name: 'act',
  columns: {
    id: 'integer',
    // The hash of a document, or the root of a batch.
    document_hash: 'bytes',
    kind: 'text',
    // The time in seconds of the Unix epoch.
    time: 'integer',
    actor: 'text',
    tenant: 'text?',
  },
  numbered: 'id',
  indexes: { act_by_document: { on: 'document_hash, id' } },
}

/** The places of documents in the status lists of credentials (gateway/credentials/). */
const STATUS_LISTS: Table[] = [
  {
    // A list is lost when the database does not know all documents that are in it.
    name: 'status_list',
    columns: { list: 'integer', used: 'integer', lost: 'flag' },
    key: ['list'],
  },
  {
    name: 'status_slot',
    columns: {
      list: 'integer',
      slot: 'integer',
      document_hash: 'bytes',
      // Empty for a document that was issued alone.
      root: { kind: 'bytes', default: NO_BYTES },
    },
    key: ['list', 'slot'],
    unique: [['document_hash', 'root']],
  },
]

/** How many documents got into blocks each day, in days since 1970-01-01; '' = a command. */
const TALLY: Table = {
  name: 'tally',
  columns: { day: 'integer', tenant: 'text', kind: 'text', count: 'integer' },
  key: ['day', 'tenant', 'kind'],
}

const EVENTS: Table[] = [
  {
    // The events of documents. Ids are in the order of commits.
    name: 'event',
    columns: {
      id: 'integer',
      type: 'text',
      // The time in milliseconds of the Unix epoch.
      time: 'integer',
      document_hash: 'bytes',
      block_number: 'integer?',
      block_hash: 'bytes?',
      transaction_hash: 'bytes?',
      tenant: 'text?',
      // For a change, the blind index of the tenant that issued the document or batch. If it is
      // known, the event is only for that tenant.
      owner: 'integer?',
    },
    numbered: 'id',
  },
  {
    // Receivers of events. `cursor` is the event up to which they are being delivered or were
    // delivered. `types` and `secrets` are JSON; `secrets` has the values from which the secrets
    // are derived.
    name: 'webhook',
    columns: {
      id: 'text',
      tenant: 'text?',
      created_by: 'text',
      created_at: 'integer',
      url: 'text',
      types: 'text?',
      secrets: 'text',
      disabled_reason: 'text?',
      failing_since: 'integer?',
      cursor: 'integer',
      epoch: { kind: 'integer', default: '0' },
    },
    key: ['id'],
  },
  {
    // Deliveries that failed, or that wait for an earlier one of their document.
    name: 'delivery',
    columns: {
      webhook: 'text',
      document_hash: 'bytes',
      event: 'integer',
      attempts: 'integer',
      failed_since: 'integer?',
      next_at: 'integer',
    },
    key: ['webhook', 'document_hash', 'event'],
    references: {
      webhook: 'webhook (id) ON DELETE CASCADE',
      event: 'event (id) ON DELETE CASCADE',
    },
    indexes: {
      delivery_by_event: { on: 'event' },
      delivery_by_time: { on: 'webhook, next_at' },
    },
  },
]

/** What wallets have used, by digests that say nothing about a document. In seconds. */
const CREDENTIALS: Table[] = [
  {
    name: 'spent_nonce',
    columns: { nonce: 'bytes', expires_at: 'integer' },
    key: ['nonce'],
    indexes: { spent_nonce_by_time: { on: 'expires_at' } },
  },
  {
    // Offers that a wallet used, or tried to use with a wrong code.
    name: 'used_offer',
    columns: {
      offer: 'bytes',
      uses: { kind: 'integer', default: '0' },
      tries: { kind: 'integer', default: '0' },
      expires_at: 'integer',
    },
    key: ['offer'],
    indexes: { used_offer_by_time: { on: 'expires_at' } },
  },
]

/**
 * The versions of kinds of documents. They are never changed or deleted, because credentials name
 * them. At most one of a category has no end: the one that holds. Times are in milliseconds of the
 * Unix epoch.
 */
export const KIND: Table = {
  name: 'kind',
  columns: {
    category: 'text',
    version: 'integer',
    // The file as it is served.
    bytes: 'bytes',
    begun_at: 'integer',
    ended_at: 'integer?',
  },
  key: ['category', 'version'],
  indexes: { kind_current: { on: 'category', where: 'ended_at IS NULL', unique: true } },
}

/**
 * Runs, whose rows the gateway issues by itself, and their rows and results, which are sealed. Times
 * are in milliseconds of the Unix epoch.
 */
const RUNS: Table[] = [
  {
    name: 'run',
    columns: {
      id: 'text',
      tenant: 'text',
      // The key or person that it belongs to.
      owner: 'text',
      mode: 'text',
      size: 'integer',
      content: 'bytes',
      state: 'text',
      reason: 'text?',
      created_at: 'integer',
      ended_at: 'integer?',
    },
    key: ['id'],
  },
  {
    name: 'run_row',
    columns: { run: 'text', line: 'integer', sealed: 'bytes', result: 'bytes?' },
    key: ['run', 'line'],
    references: { run: 'run (id) ON DELETE CASCADE' },
    indexes: { run_row_open: { on: 'run, line', where: 'result IS NULL' } },
  },
]

/**
 * API keys. With SQLite they are in a separate file, which commands change while the gateway runs.
 */
const KEYS: Table = {
  name: 'api_key',
  columns: {
    position: 'integer',
    id: 'text',
    digest: 'text',
    tenant: 'text',
    scopes: 'text',
    label: 'text?',
    categories: 'text?',
    rate_limit: 'integer?',
    created_at: 'text',
    expires_at: 'text?',
    last_used_at: 'text?',
    replaced_by: 'text?',
  },
  numbered: 'position',
  unique: [['id']],
}

/**
 * People who sign in to the desk. These tables are where the keys are. Secrets are stored as their
 * sha-256, 64 hexadecimal digits; times are in ISO 8601 unless they are numbers.
 */
export const PEOPLE: readonly Table[] = [
  {
    name: 'person',
    columns: {
      position: 'integer',
      id: 'text',
      name: 'text',
      role: 'text',
      tenant: 'text',
      categories: 'text?',
      created_at: 'text',
      is_blocked: 'flag',
    },
    numbered: 'position',
    unique: [['id']],
  },
  {
    name: 'session',
    columns: {
      position: 'integer',
      id: 'text',
      digest: 'text',
      person: 'text',
      created_at: 'text',
      expires_at: 'text',
      last_used_at: 'text',
      // Whether it may register the first passkey of its person.
      may_register: 'flag',
    },
    numbered: 'position',
    unique: [['id'], ['digest']],
    references: { person: 'person (id) ON DELETE CASCADE' },
    indexes: { session_by_person: { on: 'person' } },
  },
  {
    name: 'passkey',
    columns: {
      position: 'integer',
      id: 'text',
      person: 'text',
      label: 'text',
      // As the browser names it, in base64url.
      credential: 'text',
      // A COSE key.
      public_key: 'bytes',
      // How often the authenticator has signed, if it counts.
      counter: 'integer',
      // JSON: the ways to reach the authenticator, for the browser.
      transports: 'text?',
      created_at: 'text',
      last_used_at: 'text?',
    },
    numbered: 'position',
    unique: [['id'], ['credential']],
    references: { person: 'person (id) ON DELETE CASCADE' },
    indexes: { passkey_by_person: { on: 'person' } },
  },
  {
    // The open invitation of each person. It is deleted by its use.
    name: 'invitation',
    columns: { person: 'text', digest: 'text', expires_at: 'text?' },
    key: ['person'],
    unique: [['digest']],
    references: { person: 'person (id) ON DELETE CASCADE' },
  },
  {
    // Who signs in with the identity provider: the sha-256 of the issuer and the subject there. Once
    // the person is removed, what limits them if they come back.
    name: 'login',
    columns: { digest: 'text', person: 'text?', tenant: 'text?', categories: 'text?' },
    key: ['digest'],
    unique: [['person']],
    references: { person: 'person (id) ON DELETE SET NULL' },
  },
  {
    // Challenges for passkeys that were answered, in milliseconds of the Unix epoch.
    name: 'spent_challenge',
    columns: { challenge: 'text', expires_at: 'integer' },
    key: ['challenge'],
  },
]

/** The tables that with SQLite are in the file of keys. */
export const KEPT_WITH_KEYS: readonly Table[] = [KEYS, ...PEOPLE]

/** How often keys have changed; above 0, there have been keys. */
export const KEY_CHANGES: Table = {
  name: 'key_change',
  columns: { version: 'integer' },
  key: ['version'],
}

/**
 * The holders of accounts and chores. The pair of name and token is unique so that in PostgreSQL
 * the token counts as a key: a writer that has the row FOR KEY SHARE then waits for no renewal, and
 * a new holder waits for the writer. Times are in milliseconds of the Unix epoch.
 */
const LEASES: Table = {
  name: 'lease',
  columns: {
    name: 'text',
    token: { kind: 'integer', default: '0' },
    holder: 'text?',
    expires_at: { kind: 'integer', default: '0' },
  },
  key: ['name'],
  unique: [['name', 'token']],
}

/** When the service made its last backup; the one row has the id 1. */
const BACKUP: Table = {
  name: 'backup',
  columns: { id: 'integer', made_at: 'integer' },
  key: ['id'],
  only: 'sqlite',
}

/** A row that is written to find out whether the disk accepts writes. */
const PROBE: Table = {
  name: 'probe',
  columns: { id: 'integer', written_at: 'integer' },
  key: ['id'],
  only: 'sqlite',
}

/** The tables that are copied to the other database, in an order that references allow. */
export const MOVED: readonly Table[] = [
  ...PAYLOADS,
  DRAFTS,
  ...OUTBOX,
  ...DOCUMENTS,
  ACTS,
  TALLY,
  ...STATUS_LISTS,
  ...EVENTS,
  ...RUNS,
  KIND,
  ...CREDENTIALS,
  ...KEPT_WITH_KEYS,
]

/** @returns All tables of the database; for SQLite without those in the file of keys. */
export function tablesOf(name: Dialect['name']): Table[] {
  const all = [
    ...OWNER,
    ...MOVED.filter((table) => !KEPT_WITH_KEYS.includes(table)),
    LEASES,
    PROBE,
    BACKUP,
  ]
  const keys = name === 'postgres' ? [...KEPT_WITH_KEYS, KEY_CHANGES] : []
  return [...all, ...keys].filter(({ only }) => only === undefined || only === name)
}

/** @returns The kind of a column. */
export function kindOf(column: Column): Kind {
  return typeof column === 'string' ? (column.replace('?', '') as Kind) : column.kind
}

const TYPES: Record<Dialect['name'], Record<Kind, string>> = {
  sqlite: { integer: 'INTEGER', text: 'TEXT', bytes: 'BLOB', flag: 'INTEGER' },
  postgres: { integer: 'bigint', text: 'text', bytes: 'bytea', flag: 'boolean' },
}
const NUMBERED = {
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  postgres: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
}

/** @returns The type of a column of this kind. */
export function typeOf(database: Dialect['name'], kind: Kind): string {
  return TYPES[database][kind]
}

/**
 * An INSERT of items, whose values are named as the columns that they fill.
 *
 * @param columns The names of these columns.
 * @param computed Expressions for other columns.
 * @param more Other values of the items, which the expressions use.
 */
export function insertItems(
  sql: Dialect,
  name: string,
  columns: string,
  { computed = {}, more = {} }: { computed?: Values; more?: Readonly<Record<string, Kind>> } = {},
): string {
  const filled = columns.split(', ')
  const table = [...MOVED, LEASES].find((one) => one.name === name)
  const kinds = filled.map((column) => [column, kindOf(table?.columns[column] as Column)])
  return `
    INSERT INTO ${name} (${[...filled, ...Object.keys(computed)].join(', ')})
    SELECT ${[...filled.map((column) => `item.${column}`), ...Object.values(computed)].join(', ')}
    FROM ${sql.items({ ...Object.fromEntries(kinds), ...more })}`
}

/** @returns Statements that create these tables. */
export function schemaOf(database: Dialect['name'], tables: readonly Table[]): string {
  return tables.map((table) => createOf(database, table)).join('\n')
}

const isNullable = (column: Column) => typeof column === 'string' && column.endsWith('?')

function createOf(database: Dialect['name'], table: Table): string {
  const { name, columns, numbered, key, unique = [], references = {}, indexes = {} } = table
  const parts = [
    ...Object.entries(columns).map(([column, of]) =>
      column === numbered
        ? `${column} ${NUMBERED[database]}`
        : `${column} ${typeOf(database, kindOf(of))}${constraintsOf(database, of)}${
            references[column] ? ` REFERENCES ${references[column]}` : ''
          }`,
    ),
    ...(key ? [`PRIMARY KEY (${key.join(', ')})`] : []),
    ...unique.map((some) => `UNIQUE (${some.join(', ')})`),
  ]
  const options = database === 'sqlite' ? ` STRICT${key ? ', WITHOUT ROWID' : ''}` : ''
  const created = Object.entries(indexes).map(
    ([index, { on, where, unique: isUnique }]) =>
      `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${index} ON ${name} (${on})${
        where ? ` WHERE ${where}` : ''
      };`,
  )
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (\n  ${parts.join(',\n  ')}\n)${options};`,
    ...created,
  ].join('\n')
}

function constraintsOf(database: Dialect['name'], column: Column): string {
  if (typeof column !== 'string') {
    const empty = database === 'sqlite' ? "x''" : column.default
    return ` NOT NULL DEFAULT ${column.default === NO_BYTES ? empty : column.default}`
  }
  if (column === 'flag') return ' NOT NULL DEFAULT false'
  return isNullable(column) ? '' : ' NOT NULL'
}
