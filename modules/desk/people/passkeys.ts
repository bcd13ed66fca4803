import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { clock } from '#base/clock.ts'
import { Refusal } from '#base/refusal.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { newId } from '#keys/secret.ts'
import { assertOwn } from './person.ts'
import type { Passkey, PeopleStore, Person, Session, SpentChallenge, UsedPasskey } from './ports.ts'
import type { NewSession, Sessions, SignedIn } from './sessions.ts'

const MAX_PASSKEYS = 10
const CHALLENGE_TTL_MS = 5 * 60_000
/**
 * EdDSA, ES256 and RS256. Without a list, the library also tries algorithms that Node.js calls
 * experimental, with a warning in the log.
 */
const ALGORITHMS = [-8, -7, -257]

export type Passkeys = {
  /** @returns What the browser needs to sign anybody in who has a passkey for this service. */
  signInOptions(): Promise<PublicKeyCredentialRequestOptionsJSON>
  /** @throws {Refusal} `passkey_invalid`, `person_blocked` */
  signIn(response: AuthenticationResponseJSON): Promise<NewSession>
  /**
   * @returns What the browser needs to register a passkey, and `proof` to show one that the person
   * has; `null` if the session may do without.
   * @throws {Refusal} `too_many_passkeys`, `passkey_required`, `provider_decides`
   */
  registrationOptions(
    signedIn: SignedIn,
  ): Promise<
    PublicKeyCredentialCreationOptionsJSON & { proof: PublicKeyCredentialRequestOptionsJSON | null }
  >
  /**
   * Whoever has stolen a session must not stay after it.
   *
   * @param proof Of a passkey that the person has.
   * @throws {Refusal} `too_many_passkeys`, `passkey_invalid`, `passkey_required`,
   * `provider_decides`
   */
  register(
    signedIn: SignedIn,
    response: RegistrationResponseJSON,
    label: string,
    proof?: AuthenticationResponseJSON,
  ): Promise<Passkey>
  /** @returns The passkeys of a person, the oldest first. */
  list(person: Person): Promise<Passkey[]>
  /** Ends the other sessions of the person too. @throws {Refusal} `not_found` */
  remove(session: Session, id: string): Promise<void>
}

/**
 * @param deskUrl The address of the desk, to whose name passkeys are bound.
 * @param issuerSecrets Of all gateways, so that each accepts the challenges of the others.
 */
export function createPasskeys(
  store: PeopleStore,
  sessions: Pick<Sessions, 'usePasskey'>,
  { deskUrl, issuerSecrets }: { deskUrl: string; issuerSecrets: readonly [Hex, ...Hex[]] },
): Passkeys {
  const { origin, hostname } = new URL(deskUrl)
  const challenges = createChallenges(issuerSecrets)

  /** @throws {Refusal} `passkey_invalid` */
  async function prove<T>(
    purpose: string,
    verify: (expected: Expected) => Promise<T | false>,
  ): Promise<{ proven: T; challenge: SpentChallenge }> {
    let challenge: SpentChallenge | undefined
    const proven = await verify({
      expectedChallenge(answered) {
        challenge = challenges.read(answered, purpose)
        return challenge !== undefined
      },
      expectedOrigin: origin,
      expectedRPID: hostname,
      requireUserVerification: true,
    }).catch((cause) => {
      throw new Refusal('passkey_invalid', REFUSED, { cause })
    })
    if (proven && challenge) return { proven, challenge }
    throw new Refusal('passkey_invalid', REFUSED)
  }

  async function ownPasskeys(person: Person): Promise<Passkey[]> {
    assertOwn(person)
    const own = await store.passkeysOf(person.id)
    if (own.length < MAX_PASSKEYS) return own
    throw new Refusal(
      'too_many_passkeys',
      `there are already ${MAX_PASSKEYS} passkeys: remove one first`,
    )
  }

  /** @throws {Refusal} `passkey_invalid` */
  async function show(purpose: string, response: AuthenticationResponseJSON): Promise<UsedPasskey> {
    const passkey = await store.findPasskey(response.id)
    if (!passkey) throw new Refusal('passkey_invalid', 'the passkey is unknown')
    const { verifyAuthenticationResponse } = await load()
    const { id, credential, publicKey, counter } = passkey
    const { proven, challenge } = await prove(purpose, async (expected) => {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        ...expected,
        response,
        credential: { id: credential, publicKey: new Uint8Array(publicKey), counter },
      })
      return verified && authenticationInfo
    })
    return { id, counter: proven.newCounter, challenge }
  }

  async function requestOptions(purpose: string, allowed: readonly Passkey[] = []) {
    const { generateAuthenticationOptions } = await load()
    return generateAuthenticationOptions({
      rpID: hostname,
      challenge: challenges.create(purpose),
      timeout: CHALLENGE_TTL_MS,
      userVerification: 'required',
      ...(allowed.length > 0 && { allowCredentials: allowed.map(named) }),
    })
  }

  return {
    signInOptions: () => requestOptions(SIGN_IN),
    signIn: async (response) => sessions.usePasskey(await show(SIGN_IN, response)),
    async registrationOptions({ person, session }) {
      const own = await ownPasskeys(person)
      if (!session.mayRegister && own.length === 0) throw passkeyRequired()
      const { generateRegistrationOptions } = await load()
      const options = await generateRegistrationOptions({
        rpName: hostname,
        rpID: hostname,
        userName: person.name,
        userDisplayName: person.name,
        userID: new TextEncoder().encode(person.id),
        challenge: challenges.create(person.id),
        timeout: CHALLENGE_TTL_MS,
        supportedAlgorithmIDs: ALGORITHMS,
        excludeCredentials: own.map(named),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      })
      const proof = session.mayRegister ? null : await requestOptions(proofBy(person), own)
      return { ...options, proof }
    },
    async register({ person, session }, response, label, proof) {
      await ownPasskeys(person)
      if (!session.mayRegister && !proof) throw passkeyRequired()
      const by = proof ? await show(proofBy(person), proof) : session.id
      const { verifyRegistrationResponse } = await load()
      const { proven, challenge } = await prove(person.id, async (expected) => {
        const { verified, registrationInfo } = await verifyRegistrationResponse({
          ...expected,
          response,
          supportedAlgorithmIDs: ALGORITHMS,
        })
        return verified && registrationInfo
      })
      const { credential } = proven
      const passkey = {
        id: newId(),
        person: person.id,
        label,
        credential: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        ...(credential.transports && { transports: credential.transports }),
        createdAt: new Date(clock.wall()).toISOString(),
      }
      if (await store.addPasskey(passkey, challenge, by)) return passkey
      throw new Refusal('passkey_invalid', REFUSED)
    },
    list: (person) => store.passkeysOf(person.id),
    async remove({ id: session, person }, id) {
      if (await store.removePasskey(person, id, session)) return
      throw new Refusal('not_found', 'no such passkey')
    },
  }
}

/** It takes 0.2 s and 26 MB to load, which a gateway without a desk does not need. */
const load = () => import('@simplewebauthn/server')

/** What an answer of an authenticator must match. */
type Expected = {
  expectedChallenge: (answered: string) => boolean
  expectedOrigin: string
  expectedRPID: string
  requireUserVerification: true
}

const REFUSED = 'the passkey was not accepted'

/** The purpose of a challenge for anybody; for a new passkey it is the id of the person. */
const SIGN_IN = 'sign in'
const proofBy = ({ id }: Person) => `proof by ${id}`

const passkeyRequired = () =>
  new Refusal('passkey_required', 'show a passkey of yours, or ask an administrator for a link')

/** How browsers name a passkey. */
const named = ({ credential, transports }: Passkey) => ({
  id: credential,
  ...(transports && { transports: [...transports] }),
})
const HEAD_BYTES = 8 + 16

/**
 * Challenges carry their own expiry and a MAC, so that nothing is stored when somebody asks for
 * one. Only answered ones are stored, until they expire.
 */
function createChallenges(issuerSecrets: readonly [Hex, ...Hex[]]) {
  const keys = issuerSecrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', fromHex(secret), '', 'document-registry/v1/challenge', 32)),
  )
  const macOf = (key: Buffer, head: Uint8Array, purpose: string) =>
    createHmac('sha256', key).update(head).update(purpose).digest()

  /** @returns A challenge for this purpose; `undefined` when it is not valid or has expired. */
  function read(answered: string, purpose: string): SpentChallenge | undefined {
    const bytes = Buffer.from(answered, 'base64url')
    const [head, mac] = [bytes.subarray(0, HEAD_BYTES), bytes.subarray(HEAD_BYTES)]
    const isOurs = keys.some((key) => {
      const own = macOf(key, head, purpose)
      return own.length === mac.length && timingSafeEqual(own, mac)
    })
    if (!isOurs) return undefined
    const expiresAt = Number(head.readBigUInt64BE())
    if (expiresAt <= clock.wall()) return undefined
    // Other spellings of the same bytes are the same challenge.
    return { challenge: bytes.toString('base64url'), expiresAt }
  }

  return {
    read,
    create(purpose: string): Uint8Array<ArrayBuffer> {
      const head = Buffer.alloc(HEAD_BYTES)
      head.writeBigUInt64BE(BigInt(clock.wall() + CHALLENGE_TTL_MS))
      randomBytes(16).copy(head, 8)
      return new Uint8Array([...head, ...macOf(keys[0] as Buffer, head, purpose)])
    },
  }
}
