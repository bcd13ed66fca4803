import type { IdentityAddress } from '#verifier/identity.ts'
import type { Naming } from './credential.ts'

// What a wallet reads about the issuer of credentials (OpenID4VCI 1.0). Each category of documents
// is a credential issuer of its own, so that an offer can name any category without a list of all.

export const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'

/** The paths of the endpoints below the address of the gateway. */
export const ENDPOINTS = {
  token: '/wallets/token',
  nonce: '/wallets/nonce',
  credential: '/wallets/credential',
  notification: '/wallets/notification',
} as const

/** A form of credential that a wallet can ask for. */
type Configuration = { isTyped: boolean; naming: Naming }

/** By id. The first of each is for wallets that read the issuer's keys over https. */
export const CONFIGURATIONS: Readonly<Record<string, Configuration>> = {
  document: { isTyped: true, naming: 'https' },
  'document-did-web': { isTyped: true, naming: 'did:web' },
  plain: { isTyped: false, naming: 'https' },
  'plain-did-web': { isTyped: false, naming: 'did:web' },
}

/** @returns The ids that an offer of a form names: one, because some wallets fetch all of them. */
export function configurationsFor({ isTyped, naming }: Configuration): string[] {
  return Object.keys(CONFIGURATIONS).filter((id) => {
    const form = CONFIGURATIONS[id]
    return form?.isTyped === isTyped && form.naming === naming
  })
}

/** @returns The identifier of the credential issuer of a category. */
export const credentialIssuerOf = (baseUrl: string, category: string): string =>
  `${baseUrl}/wallets/${category}`

/** What the metadata of a category say. */
export type CategoryMetadata = {
  baseUrl: string
  category: string
  /** The issuer's domain. */
  own: IdentityAddress
  /** The `vct` of documents that do not fit its kind. */
  plain: string
  /** The type metadata of its kind; absent = there is none. */
  kind: TypeMetadata | undefined
}

/** The members of SD-JWT VC Type Metadata that say how to show a credential. */
export type TypeMetadata = {
  vct: string
  display?: readonly { locale: string; name: string; description?: string }[]
  claims?: readonly {
    path: readonly string[]
    mandatory?: boolean
    display?: readonly { locale: string; label: string }[]
  }[]
}

/** @returns The metadata at `/.well-known/openid-credential-issuer`. */
export function issuerMetadataOf({
  baseUrl,
  category,
  own,
  plain,
  kind,
}: CategoryMetadata): object {
  const forms = Object.entries(CONFIGURATIONS).flatMap(([id, { isTyped }]) => {
    const type = isTyped ? kind : { vct: plain }
    // Without a scope, the server's metadata would have to name types of authorization details.
    return type ? [[id, { ...configurationOf(type, category), scope: id }]] : []
  })
  return {
    credential_issuer: credentialIssuerOf(baseUrl, category),
    credential_endpoint: `${baseUrl}${ENDPOINTS.credential}`,
    nonce_endpoint: `${baseUrl}${ENDPOINTS.nonce}`,
    notification_endpoint: `${baseUrl}${ENDPOINTS.notification}`,
    display: [{ name: own.domain }],
    credential_configurations_supported: Object.fromEntries(forms),
  }
}

function configurationOf({ vct, display, claims }: TypeMetadata, category: string): object {
  return {
    format: 'dc+sd-jwt',
    vct,
    cryptographic_binding_methods_supported: ['jwk'],
    credential_signing_alg_values_supported: ['ES256'],
    proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
    credential_metadata: {
      display: display ?? [{ name: category.replaceAll('_', ' ') }],
      ...(claims && {
        claims: claims.map(({ path, mandatory, display: labels = [] }) => ({
          path,
          mandatory,
          display: labels.map(({ label: name, locale }) => ({ name, locale })),
        })),
      }),
    },
  }
}

/**
 * @param page Where people begin; no authorization request is answered, but wallets want an
 * address.
 * @returns The metadata at `/.well-known/oauth-authorization-server`.
 */
export function serverMetadataOf(baseUrl: string, category: string, page: string): object {
  return {
    issuer: credentialIssuerOf(baseUrl, category),
    authorization_endpoint: page,
    token_endpoint: `${baseUrl}${ENDPOINTS.token}`,
    response_types_supported: ['code'],
    grant_types_supported: [PRE_AUTHORIZED],
    token_endpoint_auth_methods_supported: ['none'],
    dpop_signing_alg_values_supported: ['ES256'],
    'pre-authorized_grant_anonymous_access_supported': true,
  }
}
