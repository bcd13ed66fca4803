import { createHash, createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { type CallbackContext, clientAuthenticationAnonymous, type Jwk } from '@openid4vc/oauth2'
import { Openid4vciClient, setGlobalConfig } from '@openid4vc/openid4vci'
import { type JWTPayload, SignJWT } from 'jose'

/** What a wallet may do otherwise than by default. */
export type Fetching = {
  txCode?: string
  /** The form of the credential; absent = the first that is offered. */
  configuration?: string
  /** Whether it shows that it has a key with each request. */
  withDpop?: boolean
}

/**
 * A wallet that nobody here wrote (`@openid4vc/openid4vci`), with one key.
 *
 * @param get Makes its requests.
 */
export function createWallet(get: typeof fetch = fetch) {
  setGlobalConfig({ allowInsecureUrls: true })
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicJwk = publicKey.export({ format: 'jwk' }) as Jwk
  const signer = { method: 'jwk' as const, alg: 'ES256', publicJwk }
  const never = () => {
    throw new Error('not used')
  }
  const callbacks: CallbackContext = {
    fetch: get,
    hash: (data, alg) => createHash(alg.replace('-', '')).update(data).digest(),
    generateRandom: (length) => randomBytes(length),
    signJwt: async (_, { header, payload }) => ({
      jwt: await new SignJWT(payload as JWTPayload)
        .setProtectedHeader({ ...(header as object), alg: 'ES256' })
        .sign(createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))),
      signerJwk: publicJwk,
    }),
    verifyJwt: never,
    decryptJwe: never,
    encryptJwe: never,
    clientAuthentication: clientAuthenticationAnonymous(),
  }
  const client = new Openid4vciClient({ callbacks })

  return {
    holder: privateKey,
    client,
    /** Fetches the credential of an offer. */
    async fetch(link: string, { txCode, configuration, withDpop = true }: Fetching = {}) {
      const offer = await client.resolveCredentialOffer(link)
      const issuerMetadata = await client.resolveIssuerMetadata(offer.credential_issuer)
      const { accessTokenResponse, dpop } =
        await client.retrievePreAuthorizedCodeAccessTokenFromOffer({
          credentialOffer: offer,
          issuerMetadata,
          ...(txCode !== undefined && { txCode }),
          ...(withDpop && { dpop: { signer } }),
        })
      const [first = ''] = offer.credential_configuration_ids
      const credentialConfigurationId = configuration ?? first
      const { c_nonce: nonce } = await client.requestNonce({ issuerMetadata })
      const common = { issuerMetadata, credentialConfigurationId }
      const { jwt } = await client.createCredentialRequestJwtProof({ ...common, signer, nonce })
      const { access_token: accessToken } = accessTokenResponse
      const authorized = { issuerMetadata, accessToken, ...(dpop && { dpop }) }
      const { credentialResponse } = await client.retrieveCredentials({
        ...common,
        ...authorized,
        proofs: { jwt: [jwt] },
      })
      const { credentials = [], notification_id: notificationId = '' } = credentialResponse
      await client.sendNotification({
        ...authorized,
        notification: { notificationId, event: 'credential_accepted' },
      })
      const [one] = credentials as { credential: string }[]
      return { credential: one?.credential ?? '', issuerMetadata }
    },
  }
}
