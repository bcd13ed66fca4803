import type {
  Invitation,
  ListedPerson,
  Login,
  Passkey,
  PeopleStore,
  Person,
  Session,
  SpentChallenge,
} from '#people/ports.ts'
import type { Role } from '#people/roles.ts'
import type { Database } from './database.ts'
import { all, first, isSet, onPostgres, type Row, statement, type Work } from './sql.ts'

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
  UPDATE person SET name = :name, role = :role, tenant = :tenant,
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

const SELECT_BY_LOGIN = statement(`
  SELECT ${PERSON} FROM login JOIN person ON person.id = login.person
  WHERE login.digest = :digest`)
const INSERT_LOGIN = statement('INSERT INTO login (digest, person) VALUES (:digest, :person)')
const DEMOTE = statement(`
  UPDATE person SET role = 'reader'
  WHERE id IN (SELECT person FROM login WHERE digest = :digest)`)
const END_LOGIN = statement(`
  DELETE FROM session WHERE person IN (SELECT person FROM login WHERE digest = :digest)`)

const SELECT_SESSIONS = statement('SELECT * FROM session ORDER BY position')
const SELECT_SESSION = statement(`
  SELECT ${PERSON}, session.id AS session, session.digest, session.created_at AS began_at,
    session.expires_at, session.last_used_at
  FROM session JOIN person ON person.id = session.person WHERE session.digest = :digest`)
const INSERT_SESSION = statement(`
  INSERT INTO session (id, digest, person, created_at, expires_at, last_used_at)
  VALUES (:id, :digest, :person, :createdAt, :expiresAt, :lastUsedAt)`)
const MARK_USED = statement('UPDATE session SET last_used_at = :time WHERE id = :id')
const END_SESSION = statement('DELETE FROM session WHERE id = :id')
const END_SESSIONS = statement('DELETE FROM session WHERE person = :person')
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

const SPEND_CHALLENGE = statement(`
  INSERT INTO spent_challenge (challenge, expires_at) VALUES (:challenge, :expiresAt)
  ON CONFLICT (challenge) DO NOTHING RETURNING challenge`)
const DELETE_OLD_CHALLENGES = statement('DELETE FROM spent_challenge WHERE expires_at <= :now')

/** @param markUsed Writes without waiting for the disk; absent = writes like everything else. */
export function createPeopleStore(
  {
    read,
    snapshot,
    write,
    brief,
    change,
  }: Pick<Database, 'read' | 'snapshot' | 'write' | 'brief' | 'change'>,
  markUsed: Database['change'] = change,
): PeopleStore {
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
        else yield* all(DELETE_PERSON, { id })
        if (endsSessions) yield* all(END_SESSIONS, { person: id })
        return true
      }),
    invite: (id, invitation) =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        if (!(yield* first(SELECT_PERSON, { id }))) return false
        yield* putInvitation(id, invitation)
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
    usePasskey: ({ id, counter }, challenge, session) =>
      write(function* () {
        if (!(yield* spend(challenge))) return undefined
        const row = yield* first(USE_PASSKEY, { id, counter, now: session.createdAt })
        return row && (yield* begin(String(row.person), session))
      }),
    useLogin: (login, added, session, most) =>
      write(function* () {
        yield* all(LOCK_PEOPLE)
        const person = yield* known(login)
        if (person) return yield* begin(person, session)
        if (Number((yield* first(COUNT_PEOPLE))?.count) >= most) return undefined
        yield* all(INSERT_PERSON, valuesOf(added))
        yield* all(INSERT_LOGIN, { digest: login.digest, person: added.id })
        return yield* begin(added.id, session)
      }),
    endLogin: (digest) =>
      write(function* () {
        yield* all(END_LOGIN, { digest })
        yield* all(DEMOTE, { digest })
      }),
    async markUsed(id, time) {
      await markUsed(MARK_USED, { id, time })
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
    addPasskey: (passkey, challenge) =>
      write(function* () {
        if (!(yield* spend(challenge))) return false
        const { transports, ...rest } = passkey
        const values = { ...rest, transports: transports && JSON.stringify(transports) }
        return (yield* first(INSERT_PASSKEY, values)) !== undefined
      }),
    async removePasskey(person, id) {
      return (await change(DELETE_PASSKEY, { person, id })).length > 0
    },
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
function* useInvitation(
  digest: string,
  session: Omit<Session, 'person'>,
): Work<Person | undefined> {
  const row = yield* first(USE_INVITATION, { digest })
  if (!row) return undefined
  const { expiresAt } = invitationOf(row)
  if (expiresAt !== undefined && expiresAt <= session.createdAt) return undefined
  return yield* begin(String(row.person), session)
}

/** @returns The id of the person of a login, who now has the name and role of that. */
function* known({ digest, name, role }: Login): Work<string | undefined> {
  const row = yield* first(SELECT_BY_LOGIN, { digest })
  if (!row) return undefined
  const id = String(row.id)
  yield* all(UPDATE_LOGIN, { id, name, role })
  if (role !== row.role) yield* all(END_SESSIONS, { person: id })
  return id
}

/** @returns Whether the challenge was not used before. */
function* spend({ challenge, expiresAt }: SpentChallenge): Work<boolean> {
  yield* all(DELETE_OLD_CHALLENGES, { now: Date.now() })
  return (yield* first(SPEND_CHALLENGE, { challenge, expiresAt })) !== undefined
}

function* begin(person: string, session: Omit<Session, 'person'>): Work<Person | undefined> {
  yield* all(DELETE_OLD_SESSIONS, { now: session.createdAt })
  yield* all(INSERT_SESSION, { ...session, person })
  yield* all(KEEP_NEWEST_SESSIONS, { person })
  const row = yield* first(SELECT_PERSON, { id: person })
  return row && personOf(row)
}

const valuesOf = ({ categories, ...rest }: Person) => ({
  ...rest,
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
