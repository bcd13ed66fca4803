import type { Role } from '#keys/roles.ts'

// Times are in ISO 8601 unless they are numbers.

/** Somebody who signs in to the desk. */
export type Person = {
  id: string
  name: string
  role: Role
  /** The tenant whose documents the person works with. */
  tenant: string
  /** The only categories that the person may issue and change; absent = all. */
  categories?: readonly string[]
  createdAt: string
  /** Whether the person signs in with the organisation's identity provider, and in no other way. */
  isFromProvider?: true
  /** Whether the person may not sign in, nor do anything. */
  isBlocked?: true
}

/** Somebody whom the identity provider has confirmed. */
export type Login = Pick<Person, 'name' | 'role' | 'tenant'> & {
  /** The sha-256 of the issuer and the subject there. */
  digest: string
}

/** A time in which a person is signed in, in one browser. */
export type Session = {
  id: string
  person: string
  /** The sha-256 of the secret in the cookie. */
  digest: string
  createdAt: string
  expiresAt: string
  /** At most a minute behind. */
  lastUsedAt: string
  /**
   * Whether it may register a passkey: the newest invitation began it, and its person has had none
   * since.
   */
  mayRegister?: true
}

/** A session before anybody is found to be signed in. */
export type BegunSession = Omit<Session, 'person' | 'mayRegister'>

/** A link that signs a person in once. */
export type Invitation = {
  /** The sha-256 of the secret in the link. */
  digest: string
  /** Absent = it is valid until it is used. */
  expiresAt?: string
}

export type Passkey = {
  id: string
  person: string
  label: string
  /** The credential id in base64url. */
  credential: string
  publicKey: Uint8Array
  /** How often the authenticator has signed; always 0 for those that do not count. */
  counter: number
  transports?: readonly string[]
  createdAt: string
  /** Absent = never used. */
  lastUsedAt?: string
}

/** What an administrator sees of a person. */
export type ListedPerson = Person & {
  /** The oldest first. Some may be over. */
  sessions: readonly Session[]
  passkeys: number
  /** The open invitation. */
  invitation?: Invitation
}

/** What an update makes of a person. */
export type PersonUpdate = {
  /** `null` removes the person with everything but what would limit them if they came back. */
  after: Person | null
  endsSessions: boolean
}

/** A challenge that was answered. */
export type SpentChallenge = {
  challenge: string
  /** Milliseconds of the Unix epoch. */
  expiresAt: number
}

/** The use of a passkey. */
export type UsedPasskey = Pick<Passkey, 'id' | 'counter'> & { challenge: SpentChallenge }

/**
 * People, and how they sign in. Other processes may change them at any time. When the promise of a
 * change resolves, the change is durable.
 */
export type PeopleStore = {
  /** @returns All people, the oldest first. */
  list(): Promise<ListedPerson[]>
  get(id: string): Promise<Person | undefined>
  /** @returns `false` when there already are `most` people. */
  add(person: Person, invitation: Invitation, most: number): Promise<boolean>
  /**
   * Changes a person. Changes come one after another.
   *
   * @param change Receives the person and everybody. Nothing changes when it throws.
   * @returns Whether there is such a person.
   */
  update(
    id: string,
    change: (person: Person, all: readonly Person[]) => PersonUpdate,
  ): Promise<boolean>
  /**
   * Replaces the open invitation of a person.
   *
   * @param removesPasskeys Whether it removes their passkeys and ends their sessions.
   * @returns Whether there is such a person.
   */
  invite(id: string, invitation: Invitation, removesPasskeys?: boolean): Promise<boolean>

  /** @returns The session with this digest, and its person as it is now. */
  findSession(digest: string): Promise<{ session: Session; person: Person } | undefined>
  /**
   * Uses up an invitation and begins a session, unless the person is blocked.
   *
   * @returns The person; `undefined` when there is no such invitation, or it has expired.
   */
  useInvitation(digest: string, session: BegunSession): Promise<Person | undefined>
  /**
   * Uses up a challenge and begins a session, unless the person is blocked.
   *
   * @returns The person; `undefined` when the challenge was used before, or the passkey is gone or
   * has counted as far before.
   */
  usePasskey(used: UsedPasskey, session: BegunSession): Promise<Person | undefined>
  /**
   * Begins a session of somebody whom the identity provider has confirmed, unless they are blocked.
   * Name and role become those of the login; another role ends earlier sessions. The tenant is for
   * a new person. Categories stay, also when the person was removed meanwhile, and do
   * not count while the role is administrator.
   *
   * @param added The person to add if this is the first login.
   * @returns The person; `undefined` when there already are `most` people.
   */
  useLogin(
    login: Login,
    added: Person,
    session: BegunSession,
    most: number,
  ): Promise<Person | undefined>
  /**
   * Ends the sessions of the person with this login, who is a reader from now on: what runs for
   * them issues nothing more.
   */
  endLogin(digest: string): Promise<void>
  /** Records the use of a session. A crash may lose this. */
  markUsed(session: string, time: string): Promise<void>
  endSession(id: string): Promise<void>

  /** @returns The passkeys of a person, the oldest first. */
  passkeysOf(person: string): Promise<Passkey[]>
  findPasskey(credential: string): Promise<Passkey | undefined>
  /**
   * Uses up a challenge and adds a passkey.
   *
   * @param by The use of a passkey of the person, or the id of a session of theirs that may
   * register one; none may any more.
   * @returns Whether it was added; not when a challenge was used before, or the credential is
   * known, or the person is gone.
   */
  addPasskey(
    passkey: Passkey,
    challenge: SpentChallenge,
    by: UsedPasskey | string,
  ): Promise<boolean>
  /**
   * Removes a passkey, and ends the sessions of its person but this one.
   *
   * @returns Whether the person had this passkey.
   */
  removePasskey(person: string, id: string, session?: string): Promise<boolean>
}
