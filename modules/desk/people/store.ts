import { clock } from '#base/clock.ts'
import type { Role } from '#keys/roles.ts'
import type { KeysDatabase } from '#store/database.ts'
import { all, first, isSet, onPostgres, type Row, statement, type Work } from '#store/sql.ts'
import type {
  BegunSession,
  Invitation,
  ListedPerson,
  Passkey,
  PeopleStore,
  Person,
  Session,
  SpentChallenge,
  UsedPasskey,
} from './ports.ts'

/** The maximum number of sessions of a person. The oldest one ends for another. */
const MAX_SESSIONS = 20

// Changes of people come one after another, so that they can be counted. Any other number would do.
const LOCK_PEOPLE = onPostgres('SELECT pg_advisory_xact_lock(7160020)')

const PERSON = `person.*,
  EXISTS (SELECT 1 FROM login WHERE login.person = person.id) AS is_from_provider`
const SELECT_PEOPLE = statement(`SELECT ${PERSON} FROM person ORDER BY position`)
const SELECT_PERSON = statement(`SELECT ${PERSON} FROM person WHERE id = :id`)
const COUNT_PEOPLE = statement('SELECT count(*) AS count FROM person')
const INSERT_PERSON = statement(`
  INSERT INTO person (id, name, role, tenant, categories, created_at)
  VALUES (:id, :name, :role, :tenant, :categories, :createdAt)`)
// The categories of an administrator do not count, and hold again when the provider takes the role.
const UPDATE_PERSON = statement(`
  UPDATE person SET name = :name, role = :role, tenant = :tenant, is_blocked = :isBlocked,
    categories = CASE WHEN :role = 'administrator' THEN categories ELSE :categories END
  WHERE id = :id`)
const UPDATE_LOGIN = statement('UPDATE person SET name = :name, role = :role WHERE id = :id')
const DELETE_PERSON = statement('DELETE FROM person WHERE id = :id')

const SELECT_INVITATIONS = statement('SELECT * FROM invitation')
const PUT_INVITATION = statement(`
  INSERT INTO invitation (person, digest, expires_at) VALUES (:person, :digest, :expiresAt)
  ON CONFLICT (person) DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at`)
const USE_INVITATION = statement(
  'DELETE FROM invitation WHERE digest = :digest RETURNING person, expires_at',
)

const SELECT_LOGIN = statement(`
  SELECT login.*, person.role FROM login LEFT JOIN person ON person.id = login.person
  WHERE digest = :digest`)
const PUT_LOGIN = statement(`
  INSERT INTO login (digest, person) VALUES (:digest, :person)
  ON CONFLICT (digest) DO UPDATE SET person = excluded.person, tenant = NULL, categories = NULL`)
const KEEP_LIMITS = statement(`
  UPDATE login SET (tenant, categories) =
    (SELECT person.tenant, person.categories FROM person WHERE person.id = :id)
  WHERE person = :id`)
const DEMOTE = statement(`
  UPDATE person SET role = 'reader'
  WHERE id IN (SELECT person FROM login WHERE digest = :digest)`)
const END_LOGIN = statement(`
  DELETE FROM session WHERE person IN (SELECT person FROM login WHERE digest = :digest)`)

const SELECT_SESSIONS = statement('SELECT * FROM session ORDER BY position')
const SELECT_SESSION = statement(`
  SELECT ${PERSON}, session.id AS session, session.digest, session.created_at AS began_at,
    session.expires_at, session.last_used_at, session.may_register
  FROM session JOIN person ON person.id = session.person WHERE session.digest = :digest`)
const INSERT_SESSION = statement(`
  INSERT INTO session
    (id, digest, person, created_at, expires_at, last_used_at, may_register)
  VALUES (:id, :digest, :person, :createdAt, :expiresAt, :lastUsedAt, :mayRegister)`)
const MARK_USED = statement('UPDATE session SET last_used_at = :time WHERE id = :id')
const END_SESSION = statement('DELETE FROM session WHERE id = :id')
const END_SESSIONS = statement('DELETE FROM session WHERE person = :person')
const END_OTHER_SESSIONS = statement(
  'DELETE FROM session WHERE person = :person AND id <> :session',
)
const MAY_REGISTER = statement(
  'SELECT id FROM session WHERE id = :session AND person = :person AND may_register',
)
const FORBID_REGISTERING = statement(
  'UPDATE session SET may_register = false WHERE person = :person',
)
const KEEP_NEWEST_SESSIONS = statement(`
  DELETE FROM session WHERE person = :person AND position NOT IN (
    SELECT position FROM session WHERE person = :person ORDER BY position DESC
    LIMIT ${MAX_SESSIONS})`)
const DELETE_OLD_SESSIONS = statement('DELETE FROM session WHERE expires_at <= :now')

const COUNT_PASSKEYS = statement('SELECT person, count(*) AS count FROM passkey GROUP BY person')
const SELECT_PASSKEYS = statement('SELECT * FROM passkey WHERE person = :person ORDER BY position')
const SELECT_PASSKEY = statement('SELECT * FROM passkey WHERE credential = :credential')
const INSERT_PASSKEY = statement(`
  INSERT INTO passkey (id, person, label, credential, public_key, counter, transports, created_at)
  SELECT :id, person.id, :label, :credential, :publicKey, :counter, :transports, :createdAt
  FROM person WHERE person.id = :person
  ON CONFLICT (credential) DO NOTHING RETURNING id`)
const USE_PASSKEY = statement(`
  UPDATE passkey SET counter = :counter, last_used_at = :now
  WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0)) RETURNING person`)
const DELETE_PASSKEY = statement(
  'DELETE FROM passkey WHERE id = :id AND person = :person RETURNING id',
)
const DELETE_PASSKEYS = statement('DELETE FROM passkey WHERE person = :person')

const SPEND_CHALLENGE = statement(`
  INSERT INTO spent_challenge (challenge, expires_at) VALUES (:challenge, :expiresAt)
  ON CONFLICT (challenge) DO NOTHING RETURNING challenge`)
const DELETE_OLD_CHALLENGES = statement('DELETE FROM spent_challenge WHERE expires_at <= :now')

export function createPeopleStore(database: KeysDatabase): PeopleStore {
  const { read, snapshot, write, brief, change, changeLoosely } = database
  return {
    list: () => brief(() => snapshot(listed)),
    async get(id) {
      const [row] = await brief(() => read(SELECT_PERSON, { id }))
      return row && personOf(row)
    },
    add: (person, invitation, most) =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        if (Number((yield* first(COUNT_PEOPLE))?.count) >= most) return false
        yield* all(INSERT_PERSON, valuesOf(person))
        yield* putInvitation(person.id, invitation)
        return true
      }),
    update: (id, changeOf) =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        const everybody = (yield* all(SELECT_PEOPLE)).map(personOf)
        const before = everybody.find((person) => person.id === id)
        if (!before) return false
        const { after, endsSessions } = changeOf(before, everybody)
        if (after) yield* all(UPDATE_PERSON, valuesOf(after))
        else {
          yield* all(KEEP_LIMITS, { id })
          yield* all(DELETE_PERSON, { id })
        }
        if (endsSessions) yield* all(END_SESSIONS, { person: id })
        return true
      }),
    invite: (id, invitation, removesPasskeys = false) =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        if (!(yield* first(SELECT_PERSON, { id }))) return false
        yield* putInvitation(id, invitation)
        yield* all(FORBID_REGISTERING, { person: id })
        if (!removesPasskeys) return true
        // Whoever signs in with one meanwhile has a session before it is gone.
        yield* all(DELETE_PASSKEYS, { person: id })
        yield* all(END_SESSIONS, { person: id })
        return true
      }),

    async findSession(digest) {
      const [row] = await brief(() => read(SELECT_SESSION, { digest }))
      if (!row) return undefined
      const person = personOf(row)
      const own = { id: row.session, person: person.id, created_at: row.began_at }
      return { session: sessionOf({ ...row, ...own }), person }
    },
    useInvitation: (digest, session) => write(() => useInvitation(digest, session)),
    usePasskey: (used, session) =>
      write(function* () {
        const person = yield* usePasskey(used, session.createdAt)
        return person === undefined ? undefined : yield* begin(person, session)
      }),
    useLogin: (login, added, session, most) =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        const { digest, name, role } = login
        const known = yield* first(SELECT_LOGIN, { digest })
        if (typeof known?.person === 'string') {
          yield* all(UPDATE_LOGIN, { id: known.person, name, role })
          if (role !== known.role) yield* all(END_SESSIONS, { person: known.person })
          return yield* begin(known.person, session)
        }
        if (Number((yield* first(COUNT_PEOPLE))?.count) >= most) return undefined
        const { tenant, categories } = known ?? {}
        yield* all(INSERT_PERSON, { ...valuesOf(added), ...(known && { tenant, categories }) })
        yield* all(PUT_LOGIN, { digest, person: added.id })
        return yield* begin(added.id, session)
      }),
    endLogin: (digest) =>
      write(function* () {
        yield* all(END_LOGIN, { digest })
        yield* all(DEMOTE, { digest })
      }),
    async markUsed(id, time) {
      await changeLoosely(MARK_USED, { id, time })
    },
    async endSession(id) {
      await change(END_SESSION, { id })
    },

    async passkeysOf(person) {
      return (await brief(() => read(SELECT_PASSKEYS, { person }))).map(passkeyOf)
    },
    async findPasskey(credential) {
      const [row] = await brief(() => read(SELECT_PASSKEY, { credential }))
      return row && passkeyOf(row)
    },
    addPasskey: (passkey, challenge, by) =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        const { transports, person, ...rest } = passkey
        if (!(yield* spend(challenge))) return false
        const isAllowed =
          typeof by === 'string'
            ? yield* first(MAY_REGISTER, { session: by, person })
            : (yield* usePasskey(by, passkey.createdAt)) === person
        if (!isAllowed) return false
        const values = { ...rest, person, transports: transports && JSON.stringify(transports) }
        if (!(yield* first(INSERT_PASSKEY, values))) return false
        yield* all(FORBID_REGISTERING, { person })
        return true
      }),
    removePasskey: (person, id, session = '') =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        if (!(yield* first(DELETE_PASSKEY, { person, id }))) return false
        yield* all(END_OTHER_SESSIONS, { person, session })
        return true
      }),
  }
}

function* listed(): Work<ListedPerson[]> {
  const people = (yield* all(SELECT_PEOPLE)).map(personOf)
  const sessions = (yield* all(SELECT_SESSIONS)).map(sessionOf)
  const passkeys = yield* all(COUNT_PASSKEYS)
  const invitations = yield* all(SELECT_INVITATIONS)
  return people.map((person) => {
    const isOwn = (row: Row) => row.person === person.id
    const invitation = invitations.find(isOwn)
    return {
      ...person,
      sessions: sessions.filter(isOwn),
      passkeys: Number(passkeys.find(isOwn)?.count ?? 0),
      ...(invitation && { invitation: invitationOf(invitation) }),
    }
  })
}

function* putInvitation(person: string, invitation: Invitation): Work<void> {
  yield* all(PUT_INVITATION, { person, ...invitation })
}

/** An expired invitation is deleted too. */
function* useInvitation(digest: string, session: BegunSession): Work<Person | undefined> {
  yield* all(LOCK_PEOPLE)
  const row = yield* first(USE_INVITATION, { digest })
  if (!row) return undefined
  const { expiresAt } = invitationOf(row)
  if (expiresAt !== undefined && expiresAt <= session.createdAt) return undefined
  const person = String(row.person)
  const mayRegister = (yield* first(SELECT_PASSKEYS, { person })) === undefined
  return yield* begin(person, session, mayRegister)
}

/** @returns The id of its person. */
function* usePasskey(
  { id, counter, challenge }: UsedPasskey,
  now: string,
): Work<string | undefined> {
  if (!(yield* spend(challenge))) return undefined
  const row = yield* first(USE_PASSKEY, { id, counter, now })
  return row && String(row.person)
}

/** @returns Whether the challenge was not used before. */
function* spend({ challenge, expiresAt }: SpentChallenge): Work<boolean> {
  yield* all(DELETE_OLD_CHALLENGES, { now: clock.now() })
  return (yield* first(SPEND_CHALLENGE, { challenge, expiresAt })) !== undefined
}

function* begin(id: string, session: BegunSession, mayRegister = false): Work<Person | undefined> {
  yield* all(DELETE_OLD_SESSIONS, { now: session.createdAt })
  const row = yield* first(SELECT_PERSON, { id })
  const person = row && personOf(row)
  if (!person || person.isBlocked) return person
  yield* all(INSERT_SESSION, { ...session, person: id, mayRegister })
  yield* all(KEEP_NEWEST_SESSIONS, { person: id })
  return person
}

const valuesOf = ({ categories, isBlocked, ...rest }: Person) => ({
  ...rest,
  isBlocked: isBlocked === true,
  categories: categories?.join(','),
})

function personOf(row: Row): Person {
  const isLimited = row.categories !== null && row.role !== 'administrator'
  return {
    id: String(row.id),
    name: String(row.name),
    role: row.role as Role,
    tenant: String(row.tenant),
    ...(isLimited && { categories: String(row.categories).split(',') }),
    createdAt: String(row.created_at),
    ...(isSet(row.is_from_provider) && { isFromProvider: true }),
    ...(isSet(row.is_blocked) && { isBlocked: true }),
  }
}

function sessionOf(row: Row): Session {
  return {
    id: String(row.id),
    person: String(row.person),
    digest: String(row.digest),
    createdAt: String(row.created_at),
    expiresAt: String(row.expires_at),
    lastUsedAt: String(row.last_used_at),
    ...(isSet(row.may_register) && { mayRegister: true }),
  }
}

function invitationOf(row: Row): Invitation {
  return {
    digest: String(row.digest),
    ...(row.expires_at !== null && { expiresAt: String(row.expires_at) }),
  }
}

function passkeyOf(row: Row): Passkey {
  return {
    id: String(row.id),
    person: String(row.person),
    label: String(row.label),
    credential: String(row.credential),
    publicKey: new Uint8Array(row.public_key as Uint8Array),
    counter: Number(row.counter),
    ...(row.transports !== null && { transports: JSON.parse(String(row.transports)) }),
    createdAt: String(row.created_at),
    ...(row.last_used_at !== null && { lastUsedAt: String(row.last_used_at) }),
  }
}
