import { hash, randomInt, timingSafeEqual } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { clock } from '#base/clock.ts'
import { decodeBase64url } from '#document/base64url.ts'
import type { P256Key } from '#document/jwk.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { type CredentialContext, createCredential, type Naming, plainTypeOf } from './credential.ts'
import { WalletError } from './errors.ts'
import type { Held, ReadHeld } from './held.ts'
import {
  CONFIGURATIONS,
  configurationsFor,
  credentialIssuerOf,
  ENDPOINTS,
  issuerMetadataOf,
  PRE_AUTHORIZED,
  serverMetadataOf,
  type TypeMetadata,
} from './metadata.ts'
import type { CredentialStore } from './ports.ts'
import { type DpopTarget, readDpopProof, readKeyProof } from './proofs.ts'
import type { Listed } from './status-slots.ts'
import type { Maker, Ticket, Tickets } from './tickets.ts'

const NONCE_SECONDS = 300
const ACCESS_SECONDS = 600
const NOTIFICATION_SECONDS = 86_400
const TX_CODE_DIGITS = 6

/** A document that can go into a wallet. */
export type ValidDocument = Extract<Held, { status: 'valid' }>

/** How an offer may be used. */
export type OfferTerms = {
  /** How many wallets may use it. */
  uses: number
  /** How long it may be used, in seconds. */
  seconds: number
  /** Whether the holder must type a code that comes on another way. */
  withTxCode: boolean
  /** How the credential names its issuer; absent = as suits the key. */
  naming?: Naming
  /** The key or person that makes it; absent = whoever holds the publicId. */
  by?: Maker
}

/** An offer of a credential, for one document. */
export type Offer = {
  /** The code, with which a wallet asks for its address too. */
  code: string
  /** Seconds of the Unix epoch. */
  expiresAt: number
  txCode?: string
}

/** The proof of a wallet's key for one request, if the wallet sent one. */
type Dpop = string | undefined

/** Issues credentials into wallets: OpenID4VCI 1.0 with pre-authorised codes. */
export type Wallets = {
  offer(publicId: string, document: ValidDocument, terms: OfferTerms): Promise<Offer>
  /** @returns The offer of a code as wallets read it; `undefined` when it is over. */
  readOffer(code: string): Promise<object | undefined>
  /** @returns What wallets read about the issuer of documents of a category. */
  issuerMetadata(category: string): Promise<object>
  serverMetadata(category: string): object
  /** @returns The answer of the token endpoint. @throws {WalletError} */
  token(request: ReadonlyMap<string, string>, dpop: Dpop): Promise<object>
  /** @returns A nonce for one proof. */
  nonce(): string
  /**
   * @param authorization The header `Authorization`.
   * @returns The answer of the credential endpoint; `undefined` when the chain cannot be read.
   * @throws {WalletError}
   */
  credential(
    request: CredentialRequest,
    caller: { authorization: string | undefined; dpop: Dpop },
  ): Promise<object | undefined>
  /** @throws {WalletError} */
  notify(id: string, caller: { authorization: string | undefined; dpop: Dpop }): Promise<void>
}

/** What a wallet asks for. */
export type CredentialRequest = {
  credential_configuration_id?: string | undefined
  credential_identifier?: unknown
  credential_response_encryption?: unknown
  proofs?: { jwt: readonly string[] } | undefined
}

/** What is sealed into wallets, and who signs it. */
export type WalletDeps = Pick<CredentialContext, 'keys' | 'own'> & {
  tickets: Tickets
  store: CredentialStore
  read: ReadHeld
  /** @returns Whether a key or person may offer these documents now. */
  mayOffer: (by: Maker, category: string) => Promise<boolean>
  /** The address at which wallets reach the gateway. */
  baseUrl: string
  /** Where people begin. */
  page: string
  registry: RegistryId
  issuerId: number
  /** @returns The type metadata of a category that has a kind. */
  kindOf: (category: string) => Promise<TypeMetadata | undefined>
  /** @returns The type of a document that fits the kind of its category. */
  typeOf: (document: ValidDocument['document']) => Promise<CredentialContext['type'] | undefined>
  /** @returns The place of a document in a status list. */
  statusOf: (listed: Listed, naming: Naming) => Promise<CredentialContext['status']>
}

const inSeconds = (seconds: number) => Math.floor(clock.wall() / 1000) + seconds

export function createWallets(deps: WalletDeps): Wallets {
  const { tickets, store, baseUrl } = deps
  // A certificate is of an address. Without one, some wallets find a key by its DID alone.
  const usualNaming: Naming = deps.keys.x5c ? 'https' : 'did:web'

  /** @returns The ticket, unless its maker may not offer the document any more. */
  async function openMade<K extends 'offer' | 'access'>(kind: K, text: string) {
    const opened = tickets.open(kind, text)
    if (opened?.ticket.by === undefined) return opened
    return (await deps.mayOffer(opened.ticket.by, opened.ticket.category)) ? opened : undefined
  }

  /** @throws {WalletError} when the proof is bad or was used before. */
  async function keyOf(dpop: string, target: Omit<DpopTarget, 'method'>): Promise<string> {
    const { jkt, jti } = await readDpopProof(dpop, { ...target, method: 'POST' })
    const once = hash('sha256', `${jkt} ${jti}`, 'buffer')
    if (await store.spend(once, inSeconds(2 * NONCE_SECONDS))) return jkt
    throw new WalletError('invalid_dpop_proof', 'the DPoP proof was used before')
  }

  /** @throws {WalletError} `invalid_token`, `invalid_dpop_proof` */
  async function admit(
    { authorization, dpop }: { authorization: string | undefined; dpop: Dpop },
    path: string,
  ): Promise<{ ticket: Ticket<'access'>; digest: Uint8Array }> {
    const [, scheme = '', token = ''] = /^(Bearer|DPoP) +(\S+)$/i.exec(authorization ?? '') ?? []
    const opened = await openMade('access', token)
    if (!opened) throw new WalletError('invalid_token', 'the access token is unknown or expired')
    const { ticket } = opened
    if (ticket.jkt === undefined && scheme.toLowerCase() === 'bearer') return opened
    if (dpop === undefined || scheme.toLowerCase() !== 'dpop')
      throw new WalletError(
        'invalid_token',
        'the access token, the scheme and the DPoP header do not match',
      )
    const jkt = await keyOf(dpop, { url: `${baseUrl}${path}`, accessToken: token })
    if (jkt === ticket.jkt) return opened
    throw new WalletError('invalid_token', 'the access token belongs to another key')
  }

  /** @throws {WalletError} `credential_request_denied` unless the document is valid. */
  async function readValid(publicId: string): Promise<ValidDocument | undefined> {
    const held = await deps.read(publicId)
    if (held.status === 'valid') return held
    if (held.status === 'unverifiable') return undefined
    throw new WalletError('credential_request_denied', `the document is ${held.status}`)
  }

  /** @throws {WalletError} `invalid_proof`, `invalid_nonce` */
  async function holderOf({ proofs }: CredentialRequest, category: string) {
    const [jwt, ...more] = proofs?.jwt ?? []
    if (jwt === undefined || more.length > 0)
      throw new WalletError('invalid_proof', 'one proof of the type jwt is required')
    const { holder, nonce } = await readKeyProof(jwt, credentialIssuerOf(baseUrl, category))
    const opened = nonce === undefined ? undefined : tickets.open('nonce', nonce)
    if (opened && (await store.spend(opened.digest, opened.ticket.expiresAt))) return holder
    throw new WalletError('invalid_nonce', 'the nonce is unknown, expired or used: ask for another')
  }

  /** @throws {WalletError} for a request that names no form that this document has. */
  async function formOf(request: CredentialRequest, document: ValidDocument['document']) {
    if (request.credential_identifier !== undefined)
      throw new WalletError(
        'unknown_credential_identifier',
        'this service issues no credential identifiers',
      )
    const id = request.credential_configuration_id
    if (id === undefined)
      throw new WalletError('invalid_credential_request', 'name a credential configuration')
    const form = Object.hasOwn(CONFIGURATIONS, id) ? CONFIGURATIONS[id] : undefined
    const type = form?.isTyped ? await deps.typeOf(document) : plainTypeOf(document)
    if (form && type) return { naming: form.naming, type }
    throw new WalletError('unknown_credential_configuration', 'no such credential configuration')
  }

  return {
    async offer(publicId, { document }, { uses, seconds, withTxCode, naming = usualNaming, by }) {
      const { category } = document
      const expiresAt = inSeconds(seconds)
      const txCode = String(randomInt(10 ** TX_CODE_DIGITS)).padStart(TX_CODE_DIGITS, '0')
      const typed = withTxCode ? { txCode } : {}
      const isTyped = (await deps.typeOf(document)) !== undefined
      const ticket = {
        publicId,
        category,
        isTyped,
        naming,
        uses,
        ...typed,
        expiresAt,
        ...(by !== undefined && { by }),
      }
      return { code: tickets.seal('offer', ticket), expiresAt, ...typed }
    },
    async readOffer(code) {
      const { ticket } = (await openMade('offer', code)) ?? {}
      return (
        ticket && {
          credential_issuer: credentialIssuerOf(baseUrl, ticket.category),
          credential_configuration_ids: configurationsFor(ticket),
          grants: {
            [PRE_AUTHORIZED]: {
              'pre-authorized_code': code,
              ...(ticket.txCode !== undefined && {
                tx_code: { input_mode: 'numeric', length: TX_CODE_DIGITS },
              }),
            },
          },
        }
      )
    },
    async issuerMetadata(category) {
      const { own, registry, issuerId } = deps
      const plain = plainTypeOf({ registry, issuerId, category }).vct
      const kind = await deps.kindOf(category)
      return issuerMetadataOf({ baseUrl, category, own, plain, kind })
    },
    serverMetadata: (category) => serverMetadataOf(baseUrl, category, deps.page),
    async token(request, dpop) {
      const grant = request.get('grant_type')
      if (grant === undefined) throw new WalletError('invalid_request', 'grant_type is required')
      if (grant !== PRE_AUTHORIZED)
        throw new WalletError('unsupported_grant_type', `grant_type must be ${PRE_AUTHORIZED}`)
      const code = request.get('pre-authorized_code')
      if (code === undefined)
        throw new WalletError('invalid_request', 'pre-authorized_code is required')
      const jkt = dpop && (await keyOf(dpop, { url: `${baseUrl}${ENDPOINTS.token}` }))
      const { ticket, digest } = (await openMade('offer', code)) ?? {}
      if (!ticket || !digest)
        throw new WalletError('invalid_grant', 'the offer is unknown or has ended')
      const { publicId, category, by, txCode, uses, expiresAt } = ticket
      const sent = request.get('tx_code')
      if ((sent === undefined) !== (txCode === undefined))
        throw new WalletError(
          'invalid_request',
          txCode === undefined ? 'this offer has no tx_code' : 'tx_code is required',
        )
      const isRight = isSame(sent ?? '', txCode ?? '')
      const redeemed = await store.redeem({ digest, expiresAt, uses, isRight })
      if (redeemed === 'wrong') throw new WalletError('invalid_grant', 'the tx_code is wrong')
      if (redeemed === 'used_up') throw new WalletError('invalid_grant', 'the offer is used up')
      const { status } = await deps.read(publicId)
      if (status !== 'valid' && status !== 'unverifiable')
        throw new WalletError('invalid_grant', `the document is ${status}`)
      const maker = by !== undefined && { by }
      const access = { publicId, category, ...maker, ...(jkt && { jkt }) }
      return {
        access_token: tickets.seal('access', { ...access, expiresAt: inSeconds(ACCESS_SECONDS) }),
        token_type: jkt ? 'DPoP' : 'Bearer',
        expires_in: ACCESS_SECONDS,
      }
    },
    nonce: () => tickets.seal('nonce', { expiresAt: inSeconds(NONCE_SECONDS) }),
    async credential(request, caller) {
      const { ticket, digest } = await admit(caller, ENDPOINTS.credential)
      const { publicId, expiresAt } = ticket
      if (request.credential_response_encryption !== undefined)
        throw new WalletError(
          'invalid_encryption_parameters',
          'encrypted answers are not supported',
        )
      const held = await readValid(publicId)
      if (!held) return undefined
      const { document, documentHash, root } = held
      const form = await formOf(request, document)
      const holder = await holderOf(request, document.category)
      const status = await deps.statusOf({ documentHash, root }, form.naming)
      if (!(await store.bind(digest, await thumbprintOf(holder), expiresAt)))
        throw new WalletError(
          'credential_request_denied',
          'the access token was used with another key: redeem the offer again for another wallet',
        )
      const { keys, own } = deps
      const context = { keys, own, ...form, holder, status }
      const credential = await createCredential({ publicId, ...held }, context)
      const notification = { expiresAt: inSeconds(NOTIFICATION_SECONDS) }
      return {
        credentials: [{ credential }],
        notification_id: tickets.seal('notification', notification),
      }
    },
    async notify(id, caller) {
      await admit(caller, ENDPOINTS.notification)
      if (tickets.open('notification', id) === undefined)
        throw new WalletError('invalid_notification_id', 'the notification_id is unknown')
    },
  }
}

const thumbprintOf = async (key: P256Key) => decodeBase64url(await calculateJwkThumbprint(key))

const isSame = (one: string, other: string) =>
  timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
