import type { DatabaseSync } from 'node:sqlite'

// Finds rows by random keys: payloads and documents by hash, documents by subject. In one tree over
// ten million rows, each new key would write a page of its own. So keys are kept in sorted runs, as
// in a log-structured merge tree: new keys go into a small run, whose few pages all of them share,
// and runs are merged into larger ones, page after page. A search asks each run: for ten million
// rows some forty, of a kind.

/** The kinds of keys: by a payload's hash, a document's hash, a document's subject. */
export const KEY_KINDS = { payload: 1, document: 2, subject: 3 } as const
export type KeyKind = (typeof KEY_KINDS)[keyof typeof KEY_KINDS]

/** A run of level 0 has the keys of 2^12 ids; of each further level, of 2^4 times as many. */
const RUN_BITS = 12
const GROUP_BITS = 4
/** The highest level, of 2^20 ids. */
const MAX_LEVEL = 2
/** What `key_run.state` says. Only live runs are read; the others are being merged. */
const STATE = { live: 0, filling: 1, emptying: 2 } as const
/** Keys that one step takes from each run of a group, at most: a step is some milliseconds. */
const KEYS_FROM_RUN = 64
const KEYS_IN_STEP = KEYS_FROM_RUN << GROUP_BITS
/** New rows for one step. Merging needs a step for each 220 or so; more often, it catches up. */
const ROWS_PER_STEP = 128

const runOf = (kind: number, id: string) => `(${id} >> ${RUN_BITS}) * 16 + ${kind}`
/** The key of a subject's blind index, an expression. */
export const subjectKey = (subject: string) => `unhex(printf('%016x', ${subject}))`

/** Statements of a trigger that add the key of a new row. */
function addKey(kind: KeyKind, key: string): string {
  return `INSERT OR IGNORE INTO key_run (kind, level, number)
      VALUES (${kind}, 0, NEW.id >> ${RUN_BITS});
    INSERT INTO sorted_key SELECT ${runOf(kind, 'NEW.id')}, ${key}, NEW.id
      WHERE ${key} IS NOT NULL`
}

function viewOf(kind: KeyKind, table: string): string {
  return `SELECT level, number, sorted_key.key, sorted_key.id AS place, ${table}.* FROM key_run
    CROSS JOIN sorted_key ON sorted_key.run = key_run.run
    CROSS JOIN ${table} ON ${table}.id = sorted_key.id
    WHERE kind = ${kind} AND state = ${STATE.live}`
}

/**
 * The part of the schema that follows the tables `block` and `document`. Keys are the first 8 bytes
 * of a hash, or a subject's blind index. A key may outlast its row: the views leave it out. Whoever
 * reads by a hash compares all of it.
 */
export const SORTED_KEYS_SCHEMA = `
  -- key, id: the last one that was copied into a run that is being filled.
  CREATE TABLE IF NOT EXISTS key_run (
    kind INTEGER NOT NULL,
    level INTEGER NOT NULL,
    number INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT ${STATE.live},
    key BLOB NOT NULL DEFAULT x'',
    id INTEGER NOT NULL DEFAULT 0,
    run INTEGER GENERATED ALWAYS AS (number * 16 + level * 4 + kind) VIRTUAL,
    PRIMARY KEY (kind, level, number DESC)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS sorted_key (
    run INTEGER NOT NULL,
    key BLOB NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (run, key, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS block_key AFTER INSERT ON block
  BEGIN
    ${addKey(KEY_KINDS.payload, 'substr(NEW.hash, 1, 8)')};
  END;
  CREATE TRIGGER IF NOT EXISTS document_key AFTER INSERT ON document
  BEGIN
    ${addKey(KEY_KINDS.document, 'substr(NEW.document_hash, 1, 8)')};
    ${addKey(KEY_KINDS.subject, subjectKey('NEW.subject'))};
  END;
  CREATE TRIGGER IF NOT EXISTS subject_erased AFTER UPDATE OF subject ON document
  WHEN OLD.subject IS NOT NULL AND NEW.subject IS NULL
  BEGIN
    DELETE FROM sorted_key WHERE key = ${subjectKey('OLD.subject')} AND id = OLD.id
      AND run IN (SELECT run FROM key_run WHERE kind = ${KEY_KINDS.subject});
  END;
  -- place: the id, as the one that is sorted. In the order of level, number DESC, place DESC.
  CREATE VIEW IF NOT EXISTS block_by_key AS ${viewOf(KEY_KINDS.payload, 'block')};
  CREATE VIEW IF NOT EXISTS document_by_key AS ${viewOf(KEY_KINDS.document, 'document')};
  CREATE VIEW IF NOT EXISTS document_by_subject AS ${viewOf(KEY_KINDS.subject, 'document')};
`

/** @returns The key of a subject's blind index. */
export function keyOfSubject(subject: bigint): Uint8Array {
  const key = Buffer.alloc(8)
  key.writeBigInt64BE(subject)
  return key
}

type Place = { key: Uint8Array; id: number }
type Run = Place & { level: number; number: number; state: number; run: number }

/**
 * @returns A function to be called within the write that adds a row. Once in a while it also merges
 *   some keys, so that no separate job does, and no request waits for one.
 */
export function createMergeKeys(
  sqlite: DatabaseSync,
  kind: KeyKind,
): (added: number | bigint) => void {
  const selectUnfinished = sqlite.prepare(
    `SELECT * FROM key_run WHERE kind = ? AND state <> ${STATE.live} ORDER BY state LIMIT 1`,
  )
  const startNext = createStart(sqlite, kind)
  const fill = createFill(sqlite, kind)
  const empty = createEmpty(sqlite, kind)

  function step(): void {
    const run = selectUnfinished.get(kind) as Run | undefined
    if (!run) startNext()
    else if (run.state === STATE.filling) fill(run)
    else empty(run)
  }

  return (added) => {
    if (Number(added) % ROWS_PER_STEP === 0) step()
  }
}

/** @returns A function that starts to merge the oldest group of a level that has all its runs. */
function createStart(sqlite: DatabaseSync, kind: KeyKind): () => void {
  const select = sqlite.prepare(`
    SELECT min(number) AS oldest, max(number) AS newest FROM key_run WHERE kind = ? AND level = ?`)
  const start = sqlite.prepare(`
    INSERT INTO key_run (kind, level, number, state) VALUES (?, ?, ?, ${STATE.filling})`)

  return () => {
    for (let level = 0; level < MAX_LEVEL; level++) {
      const { oldest, newest } = select.get(kind, level) as Record<string, number>
      const group = Number(oldest) >> GROUP_BITS
      if (Number(newest) >> GROUP_BITS === group) continue
      start.run(kind, level + 1, group)
      return
    }
  }
}

/** @returns A function that copies the next keys of a group into the run that replaces it. */
function createFill(sqlite: DatabaseSync, kind: KeyKind): (run: Run) => void {
  const ofGroup = `kind = ? AND level = ? AND number >> ${GROUP_BITS} = ?`
  const selectGroup = sqlite.prepare(`SELECT run FROM key_run WHERE ${ofGroup}`)
  const selectEnd = sqlite.prepare(`
    SELECT key, id FROM sorted_key WHERE run = ? AND (key, id) > (?, ?)
    ORDER BY key, id LIMIT 1 OFFSET ${KEYS_FROM_RUN - 1}`)
  const copy = sqlite.prepare(`
    INSERT INTO sorted_key SELECT ?1, key, id FROM sorted_key
    WHERE run IN (SELECT value FROM json_each(?2)) AND (key, id) > (?3, ?4) AND (key, id) <= (?5, ?6)
    ORDER BY key, id`)
  const advance = sqlite.prepare(`
    UPDATE key_run SET key = ?, id = ? WHERE kind = ? AND level = ? AND number = ?`)
  const publish = sqlite.prepare(`
    UPDATE key_run SET state = ${STATE.live} WHERE kind = ? AND level = ? AND number = ?`)
  const retire = sqlite.prepare(`UPDATE key_run SET state = ${STATE.emptying} WHERE ${ofGroup}`)

  return ({ level, number, run, key, id }) => {
    const group = selectGroup.all(kind, level - 1, number).map((one) => Number(one.run))
    const end = group
      .map((one) => (selectEnd.get(one, key, id) as Place | undefined) ?? LAST)
      .reduce((first, one) => (isBefore(one, first) ? one : first), LAST)
    copy.run(run, JSON.stringify(group), key, id, end.key, end.id)
    if (end !== LAST) return void advance.run(end.key, end.id, kind, level, number)
    publish.run(kind, level, number)
    retire.run(kind, level - 1, number)
  }
}

/** @returns A function that deletes some keys of a run that was merged. */
function createEmpty(sqlite: DatabaseSync, kind: KeyKind): (run: Run) => void {
  const clear = sqlite.prepare(`
    DELETE FROM sorted_key WHERE (run, key, id) IN (
      SELECT run, key, id FROM sorted_key WHERE run = ? LIMIT ${KEYS_IN_STEP})`)
  const remove = sqlite.prepare('DELETE FROM key_run WHERE kind = ? AND level = ? AND number = ?')

  return ({ level, number, run }) => {
    if (clear.run(run).changes < KEYS_IN_STEP) remove.run(kind, level, number)
  }
}

/**
 * Lets later merges delete the keys of rows up to this id, which are gone. For use within a write.
 */
export function retireKeys(sqlite: DatabaseSync, kinds: readonly KeyKind[], last: number): void {
  const retire = sqlite.prepare(`
    UPDATE key_run SET state = ${STATE.emptying}
    WHERE kind = ? AND (number + 1) << (${RUN_BITS} + ${GROUP_BITS} * level) <= ?`)
  for (const kind of kinds) retire.run(kind, last + 1)
}

/** After all keys, which have 8 bytes. */
const LAST: Place = { key: new Uint8Array(9).fill(0xff), id: 0 }

function isBefore(one: Place, other: Place): boolean {
  return (Buffer.compare(one.key, other.key) || one.id - other.id) < 0
}
