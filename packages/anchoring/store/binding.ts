import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Database } from './database.ts'
import { all, first, onPostgres, type Row, statement, type Work } from './sql.ts'

/**
 * The owner of a database's documents and promises. The issuer's account is not part of it, because
 * an issuer may have several.
 */
export type Binding = {
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: RegistryId
  issuerId: number
  /** The fingerprints of the issuer secrets, the newest first; see `fingerprintOf`. */
  fingerprints: readonly Hex[]
}

/** Errors that say what to do, in the words of the setting that names the database. */
export type Refusals = {
  /** @param problems The problems, each with its remedy. */
  boundToAnother(problems: readonly string[]): Error
  /** @param command The command that has not filled it yet. */
  unfinished(command: string): Error
  /** @param command The command that needs an empty database. */
  notEmpty(command: string): Error
  /** @param command The command that is running there. */
  busy(command: string): Error
}

/** The number of hexadecimal digits of a fingerprint that messages show. */
const SHOWN_DIGITS = 16

// Processes that bind a database at the same time wait for each other.
const LOCK = onPostgres('LOCK TABLE bound_to IN SHARE ROW EXCLUSIVE MODE')
const SELECT = statement('SELECT registry, issuer_id FROM bound_to')
const INSERT = statement('INSERT INTO bound_to (registry, issuer_id) VALUES (:registry, :issuerId)')
const SELECT_SECRETS = statement('SELECT fingerprint FROM issuer_secret ORDER BY id DESC')
const INSERT_SECRET = statement(
  'INSERT INTO issuer_secret (fingerprint) VALUES (:fingerprint) ON CONFLICT DO NOTHING',
)
const SELECT_UNFINISHED = statement('SELECT command FROM unfinished LIMIT 1')

/**
 * Binds a new database to its registry, issuer and issuer secrets. Adds the fingerprints of newer
 * secrets to a bound one.
 *
 * @param options `mayBeUnfinished` also allows one that a command has not filled yet.
 * @throws One of the refusals for the database of another owner, whose promises this one could not
 * keep.
 */
export function bind(
  database: Database,
  binding: Binding,
  { refusals, mayBeUnfinished = false }: { refusals: Refusals; mayBeUnfinished?: boolean },
): Promise<void> {
  const { registry, issuerId } = binding
  return database.write(function* () {
    yield* lockBinding()
    const unfinished = mayBeUnfinished ? undefined : yield* unfinishedCommand()
    if (unfinished !== undefined) throw refusals.unfinished(unfinished)
    const bound = yield* readBinding()
    const problems = bound ? bindingProblems(bound, binding) : []
    if (problems.length > 0) throw refusals.boundToAnother(problems)
    if (!bound) yield* all(INSERT, { registry, issuerId })
    for (const fingerprint of binding.fingerprints.toReversed())
      if (!bound?.fingerprints.includes(fingerprint)) yield* all(INSERT_SECRET, { fingerprint })
  })
}

export function* lockBinding(): Work<void> {
  yield* all(LOCK)
}

/** @returns The command that has not filled the database yet; `undefined` if there is none. */
export function* unfinishedCommand(): Work<string | undefined> {
  const row: Row | undefined = yield* first(SELECT_UNFINISHED)
  return row && String(row.command)
}

/** @returns `undefined` for a database that no gateway has used. */
export function* readBinding(): Work<Binding | undefined> {
  const row = yield* first(SELECT)
  if (!row) return undefined
  const secrets = yield* all(SELECT_SECRETS)
  return {
    registry: row.registry as RegistryId,
    issuerId: Number(row.issuer_id),
    fingerprints: secrets.map(({ fingerprint }) => fingerprint as Hex),
  }
}

/** @returns The start of a fingerprint, as messages show it. */
export function shortFingerprint(fingerprint: Hex): string {
  return `${fingerprint.slice(0, 2 + SHOWN_DIGITS)}…`
}

/** A finding with advice. It contains no secret. */
export type Health = {
  outcome: 'ok' | 'warn' | 'fail'
  message: string
  advice?: string
}

const COUNT_REFUSED = statement(`
  SELECT count(*) AS count FROM waiting WHERE tries > 0`)

/** @returns A finding about accepted requests that the chain refuses, if there are any. */
export function* refusedHealth(): Work<Health[]> {
  const count = Number((yield* first(COUNT_REFUSED))?.count)
  if (count === 0) return []
  return [
    {
      outcome: 'warn',
      message: `the chain refuses ${count} accepted documents or changes; they are tried again, less and less often`,
      advice: 'the log has the reason: issuer_closed, or action_held_back',
    },
  ]
}

/**
 * @param version A text about a database without problems.
 * @param known The fingerprints in the database.
 * @param configured The fingerprints of the settings; absent when they have none.
 */
export function secretHealth(
  version: string,
  known: readonly Hex[],
  configured: readonly Hex[] = known,
): Health {
  const missing = known.filter((one) => !configured.includes(one))
  if (missing.length === 0)
    return {
      outcome: 'ok',
      message: `${version}, and all of its issuer secrets are configured`,
    }
  return {
    outcome: 'fail',
    message: `ISSUER_SECRET lacks the secret with the fingerprint ${missing.map(shortFingerprint).join(', ')}`,
    advice: 'add it, or the documents that it sealed cannot be opened',
  }
}

/**
 * Compares the owner of a database with the gateway that opens it.
 *
 * @param bound The owner, with all fingerprints that the database knows.
 * @returns Each difference, with its remedy.
 */
function bindingProblems(bound: Binding, configured: Binding): string[] {
  return [
    ...differencesOf(bound, configured),
    ...secretProblems(bound.fingerprints, configured.fingerprints),
  ]
}

function differencesOf(bound: Binding, configured: Binding): string[] {
  return [
    bound.registry !== configured.registry &&
      `its registry is ${bound.registry}, not ${configured.registry}: set RPC_URL and REGISTRY_ADDRESS to that one`,
    bound.issuerId !== configured.issuerId &&
      `its issuer is number ${bound.issuerId}, not ${configured.issuerId}: set ISSUER_ID to ${bound.issuerId}`,
  ].filter((difference) => difference !== false)
}

/**
 * A missing secret would lose documents and issue repeated requests twice. The order matters too,
 * because the first secret seals.
 */
function secretProblems(known: readonly Hex[], configured: readonly Hex[]): string[] {
  const where = 'ISSUER_SECRET, or DATA_DIR/secrets/issuer.secret'
  const missing = known.filter((fingerprint) => !configured.includes(fingerprint))
  if (missing.length > 0)
    return missing.map(
      (fingerprint) =>
        `its issuer secret with the fingerprint ${shortFingerprint(fingerprint)} is missing (configured: ${listed(configured)}): add that secret to ${where}`,
    )
  const older = configured.slice(configured.length - known.length)
  if (older.every((fingerprint, i) => fingerprint === known[i])) return []
  return [
    `its issuer secrets are in another order (configured: ${listed(configured)}): put the newest first and then ${listed(known)}, in ${where}`,
  ]
}

function listed(fingerprints: readonly Hex[]): string {
  return fingerprints.map(shortFingerprint).join(', ')
}
