import { parseCredential } from '../document/credential.ts'
import { checkCredential } from './checks/credential.ts'
import { verifyParsed } from './presentation.ts'
import { abortable } from './signal.ts'
import type { PresentationVerdict } from './verdict.ts'
import { assertOptions, type VerifyOptions } from './verify.ts'

export type CredentialOptions = VerifyOptions & {
  /**
   * The audience and the nonce that the holder's key must have signed. Without them, whoever
   * received a credential can show it again.
   */
  audience?: string
  nonce?: string
}

/**
 * Verifies a credential from a wallet: that the issuer signed it, that its fields belong to a
 * document in the registry, and the status of that document. The chain decides the status, so no
 * status list is read.
 *
 * @param input An SD-JWT VC in compact form, with or without the holder's key binding.
 * @param options As for `verify`. `identity` is required for a valid verdict, because the issuer's
 * domain has the keys.
 * @returns As `verifyPresentation`, with the check `credential`.
 * @throws {FormatError} `credential_malformed`, before any request.
 * @throws The reason of `options.signal`, once it aborts.
 * @throws {TypeError} as `verify`.
 *
 * @example
 * ```ts
 * const chain = createChainReader(createFetchProvider('https://rpc.example'), registry)
 * const blocks = [createIpfsGatewaySource('https://ipfs.example')]
 * const identity = createIdentitySource()
 * const options = { chain, blocks, identity, audience: 'https://verifier.example', nonce: 'n-1' }
 * const { status, disclosed } = await verifyCredential(credential, options)
 * ```
 */
export async function verifyCredential(
  input: string | Uint8Array,
  options: CredentialOptions,
): Promise<PresentationVerdict> {
  const credential = parseCredential(input)
  assertOptions(options)
  const { audience, nonce, now = Math.floor(Date.now() / 1000), onError, chain } = options
  const { registry } = chain
  const checking = { registry, audience, nonce, now, onError }
  return abortable(
    () =>
      verifyParsed(credential.presentation, options, {
        checkCredential: (identity, reading) =>
          checkCredential(credential, identity, reading, checking),
      }),
    options.signal,
  )
}
