import { createHash, type KeyObject } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { CompactSign, compactVerify, importJWK, type JWK, SignJWT } from 'jose'

/** What a wallet and a verifier know besides a credential. */
export type Reader = {
  /** The issuer's key. */
  issuerKey: JWK
  /** The wallet's own key. */
  holder: KeyObject
  /** Fetches a status list token; absent = one that says valid. */
  statusList?: (uri: string) => Promise<string>
}

/** @returns A wallet and verifier of SD-JWT VCs that nobody here wrote. */
export function createSdJwtReader({ issuerKey, holder, statusList }: Reader): SDJwtVcInstance {
  return new SDJwtVcInstance({
    hashAlg: 'sha-256',
    hasher: (data, alg) =>
      createHash(alg.replace('-', ''))
        .update(typeof data === 'string' ? data : new Uint8Array(data))
        .digest(),
    saltGenerator: () => 'unused',
    verifier: (data, signature) => isSigned(`${data}.${signature}`, issuerKey),
    kbVerifier: (data, signature, { cnf }) =>
      isSigned(`${data}.${signature}`, (cnf as { jwk: JWK }).jwk),
    kbSigner: async (data) => {
      const [header = '', payload = ''] = data.split('.')
      const jws = await new CompactSign(Buffer.from(payload, 'base64url'))
        .setProtectedHeader(JSON.parse(Buffer.from(header, 'base64url').toString()))
        .sign(holder)
      return jws.split('.')[2] ?? ''
    },
    kbSignAlg: 'ES256',
    statusListFetcher: statusList ?? (() => validList(holder)),
    statusVerifier: async (data, signature) =>
      statusList === undefined || isSigned(`${data}.${signature}`, issuerKey),
  })
}

async function isSigned(jws: string, key: JWK): Promise<boolean> {
  return compactVerify(jws, await importJWK(key, 'ES256')).then(
    () => true,
    () => false,
  )
}

function validList(key: KeyObject): Promise<string> {
  const lst = deflateSync(Buffer.alloc(256)).toString('base64url')
  return new SignJWT({ status_list: { bits: 2, lst }, sub: 'x' })
    .setProtectedHeader({ alg: 'ES256', typ: 'statuslist+jwt' })
    .setIssuedAt()
    .sign(key)
}
