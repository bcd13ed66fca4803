import * as v from 'valibot'
import { FormatError, refusingAs } from '../document/errors.ts'
import type { Hex } from '../document/hex.ts'
import { decodeJsonText, isObject, parseStrictJson } from '../document/json.ts'
import { type P256Key, p256Members } from '../document/jwk.ts'
import { formatAccount, parseRegistryId, type RegistryId } from '../document/registry-id.ts'
import { isLocalChain } from './defaults.ts'

/** The address of an issuer's DID document, derived from its `uri` in the registry. */
export type IdentityAddress = {
  /** did:web (https://w3c-ccg.github.io/did-method-web/), in canonical form. */
  did: string
  /** The address of the DID document. */
  url: string
  /** The name to display: the host in lower-case ASCII, then port and path if there are any. */
  domain: string
}

/** The part of a DID document about document registries; everything else is ignored. */
export type IdentityStatement = {
  registries: { registry: string; issuerId: number }[]
  /** The accounts as CAIP-10 account IDs. */
  accounts: string[]
  /** The keys that sign the issuer's credentials: those of P-256 in `assertionMethod`. */
  keys: IssuerKey[]
}

/** A key with its DID URL, such as `did:web:example.edu#key-1`. */
export type IssuerKey = { id: string; jwk: P256Key }

/** The maximum length of a `uri` in the registry. */
const MAX_URI = 400
const MAX_HOST = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const LOOPBACK = /^(?:localhost|127\.0\.0\.1)$/
const ADDRESS = /^(https?):\/\/([a-z0-9.-]+)(?::([1-9][0-9]{0,4}))?((?:\/[\w.-]+)*)\/?$/i
const DID = /^did:web:([a-zA-Z0-9.-]+)(?:%3[Aa]([1-9][0-9]{0,4}))?((?::[\w.-]+)*)$/

/**
 * Parses with a small ASCII grammar instead of `URL`, so that independent verifiers find the same
 * address.
 *
 * @param uri `https://host[:port][/path]` or `did:web:host[%3Aport][:path]`. On a local chain also
 * loopback with a port, over `http`.
 * @param chainId The EIP-155 chain id.
 * @returns `undefined` for every other text, which names no domain.
 *
 * @example
 * ```ts
 * identityAddressOf('did:web:example.edu', 1).url // => 'https://example.edu/.well-known/did.json'
 * ```
 */
export function identityAddressOf(uri: string, chainId: number): IdentityAddress | undefined {
  if (uri.length > MAX_URI) return undefined
  const did = DID.exec(uri)
  const [, scheme = '', name = '', portText, path = ''] = did
    ? [did[0], '', did[1], did[2], did[3]?.replaceAll(':', '/')]
    : (ADDRESS.exec(uri) ?? [])
  const host = name.toLowerCase()
  const isLocal = isLocalChain(chainId) && LOOPBACK.test(host) && !!portText
  const wanted = isLocal ? 'http' : 'https'
  if (scheme ? scheme.toLowerCase() !== wanted : !did) return undefined
  if (!isLocal && !isDomain(host)) return undefined
  if (Number(portText ?? 0) > 65535 || /\/\.\.?(?:\/|$)/.test(path)) return undefined
  const port = portText === (isLocal ? '80' : '443') ? undefined : portText
  const domain = `${host}${port ? `:${port}` : ''}${path}`
  return {
    did: `did:web:${domain.replace(':', '%3A').replaceAll('/', ':')}`,
    url: `${wanted}://${domain}${path ? '' : '/.well-known'}/did.json`,
    domain,
  }
}

/** @returns The address of an issuer's domain, which is its `uri` in the registry. */
export function uriOf({ url, domain }: IdentityAddress): string {
  return `${new URL(url).protocol}//${domain}`
}

/**
 * @param text A domain in the form of {@link IdentityAddress}, in upper or lower case.
 * @param chainId The EIP-155 chain id.
 * @returns The domain in the form that is compared with an issuer's; `undefined` if it is not a
 * domain.
 *
 * @example
 * ```ts
 * parseDomain('Example.edu:443', 1) // => 'example.edu'
 * parseDomain('not a domain', 1) // => undefined
 * ```
 */
export function parseDomain(text: string, chainId: number): string | undefined {
  const did = `did:web:${text.replace(':', '%3A').replaceAll('/', ':')}`
  return identityAddressOf(did, chainId)?.domain
}

/**
 * @returns Whether it is a full domain name, which is neither an IP address nor a name of a local
 * network.
 */
function isDomain(host: string): boolean {
  const labels = host.split('.')
  return (
    host.length <= MAX_HOST &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    // A numeric last label would make it an IPv4 address.
    /^[a-z]/.test(labels.at(-1) ?? '') &&
    labels.at(-1) !== 'localhost'
  )
}

const SERVICE = 'DocumentRegistry'
const CAIP_10 = /^[-a-z0-9]{3,8}:[-\w]{1,32}:[-.%a-zA-Z0-9]{1,128}$/

const services = v.array(
  v.object({
    type: v.custom<string | string[]>((value) =>
      [value].flat().every((type) => typeof type === 'string'),
    ),
    serviceEndpoint: v.optional(v.unknown()),
  }),
)
const endpoints = v.array(v.object({ registry: v.string(), issuerId: v.number() }))
const methods = v.array(
  v.pipe(
    // `v.object` alone would also accept a list, unless a member is required.
    v.custom<object>(isObject),
    v.object({
      blockchainAccountId: v.optional(v.pipe(v.string(), v.regex(CAIP_10))),
      id: v.optional(v.unknown()),
      publicKeyJwk: v.optional(v.unknown()),
    }),
  ),
)
const publicKey = v.object(p256Members)

/**
 * Reads a DID document (W3C DID Core 1.0). Ignores members other than those of {@link
 * IdentityStatement}.
 *
 * @param bytes The bytes that were served.
 * @param did The required `id`.
 * @throws {FormatError} `did_document_malformed`.
 *
 * @example
 * ```ts
 * const bytes = new TextEncoder().encode('{"id":"did:web:example.edu"}')
 * readDidDocument(bytes, 'did:web:example.edu').registries // => []
 * ```
 */
export function readDidDocument(bytes: Uint8Array, did: string): IdentityStatement {
  const value = refusingAs('did_document_malformed', 'invalid JSON', () =>
    parseStrictJson(decodeJsonText(bytes)),
  )
  const read = v.safeParse(
    v.object({
      id: v.literal(did),
      service: v.optional(services, []),
      verificationMethod: v.optional(methods, []),
      assertionMethod: v.optional(v.unknown()),
    }),
    value,
  )
  if (!read.success) throw malformed(read.issues)
  const { service, verificationMethod, assertionMethod } = read.output
  const registries = service
    .filter(({ type }) => [type].flat().includes(SERVICE))
    .flatMap(({ serviceEndpoint }) => {
      const listed = v.safeParse(endpoints, serviceEndpoint)
      if (!listed.success) throw malformed(listed.issues)
      return listed.output
    })
  return {
    registries,
    accounts: verificationMethod.flatMap((one) => one.blockchainAccountId ?? []),
    keys: keysIn(verificationMethod, [assertionMethod].flat()),
  }
}

/** A key in another form is ignored, because a DID document may have keys for other purposes. */
function keysIn(
  methods: readonly { id?: unknown; publicKeyJwk?: unknown }[],
  used: readonly unknown[],
): IssuerKey[] {
  return methods.flatMap(({ id, publicKeyJwk }) => {
    const { success, output: jwk } = v.safeParse(publicKey, publicKeyJwk)
    return success && typeof id === 'string' && used.includes(id) ? [{ id, jwk }] : []
  })
}

function malformed(issues: v.BaseIssue<unknown>[]): FormatError {
  return new FormatError('did_document_malformed', 'invalid DID document', {
    fields: issues.map((issue) => ({
      field: v.getDotPath(issue) ?? '',
      message: `must be ${issue.expected ?? 'valid'}`,
    })),
  })
}

/** A public key that signs credentials, as a JWK. */
export type VerificationKey = { kid: string } & Readonly<Record<string, string>>

/**
 * Makes the DID document that links a domain with an issuer.
 *
 * @param accounts The accounts that may issue; empty = any account of the issuer.
 * @param keys The keys that sign the issuer's credentials.
 * @returns A document for {@link readDidDocument}.
 */
export function createDidDocument({
  did,
  registry,
  issuerId,
  accounts = [],
  keys = [],
}: {
  did: string
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  issuerId: number
  accounts?: readonly Hex[]
  keys?: readonly VerificationKey[]
}): object {
  const { chainId } = parseRegistryId(registry)
  const keyIdOf = ({ kid }: VerificationKey) => `${did}#${kid}`
  return {
    '@context': [
      'https://www.w3.org/ns/did/v1',
      'https://w3id.org/security/suites/secp256k1recovery-2020/v2',
      ...(keys.length > 0 ? ['https://w3id.org/security/jwk/v1'] : []),
    ],
    id: did,
    ...(accounts.length + keys.length > 0 && {
      verificationMethod: [
        ...accounts.map((account, i) => ({
          id: `${did}#account-${i + 1}`,
          type: 'EcdsaSecp256k1RecoveryMethod2020',
          controller: did,
          blockchainAccountId: formatAccount(chainId, account),
        })),
        ...keys.map((key) => ({
          id: keyIdOf(key),
          type: 'JsonWebKey',
          controller: did,
          publicKeyJwk: key,
        })),
      ],
    }),
    ...(keys.length > 0 && { assertionMethod: keys.map(keyIdOf) }),
    service: [
      {
        id: `${did}#document-registry`,
        type: SERVICE,
        serviceEndpoint: [{ registry, issuerId }],
      },
    ],
  }
}
