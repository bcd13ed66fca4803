import { CodedError } from '#document/errors.ts'

/** The errors of OAuth 2.0, DPoP and OpenID4VCI with which a wallet is refused. */
export const WALLET_ERRORS = [
  'invalid_request',
  'invalid_grant',
  'unsupported_grant_type',
  'invalid_token',
  'invalid_dpop_proof',
  'invalid_credential_request',
  'credential_request_denied',
  'unknown_credential_configuration',
  'unknown_credential_identifier',
  'invalid_proof',
  'invalid_nonce',
  'invalid_encryption_parameters',
  'invalid_notification_id',
  'invalid_notification_request',
] as const
export type WalletErrorCode = (typeof WALLET_ERRORS)[number]

/** Thrown when a wallet asks for what it does not get. The message has no secret. */
export class WalletError extends CodedError<WalletErrorCode> {
  override name = 'WalletError'
}
