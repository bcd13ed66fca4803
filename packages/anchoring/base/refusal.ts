/** Why a subject refuses a request, as clients get it. */
export type RefusalCode =
  /** No key, person, passkey or kind has this name. */
  | 'not_found'
  /** A setting contradicts another one. */
  | 'bad_fields'
  /** Another key has already taken the place of this one. */
  | 'already_rotated'
  | 'too_many_keys'
  /** Nobody could administer the service afterwards. */
  | 'last_administrator'
  | 'too_many_people'
  | 'too_many_passkeys'
  /** The invitation is unknown, used, replaced or expired. */
  | 'invitation_invalid'
  /** The answer of the authenticator proves nothing. */
  | 'passkey_invalid'
  /** Nobody has shown a passkey of the person, and the session is not that of an invitation. */
  | 'passkey_required'
  /** An administrator has blocked the person. */
  | 'person_blocked'
  /** The identity provider did not confirm who the person is. */
  | 'provider_refused'
  | 'provider_unavailable'
  /** None of the person's groups has a role. */
  | 'no_role'
  /** The identity provider decides about name, role and how the person signs in. */
  | 'provider_decides'
  /** The kind is not the one that the change is based on. */
  | 'kind_changed'
  | 'too_many_kinds'

/** Thrown when nothing was changed and nobody was signed in. The message has no secret. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: RefusalCode
  /** The setting at fault, for `bad_fields`. */
  readonly field: string | undefined

  constructor(
    code: RefusalCode,
    message: string,
    { field, cause }: { field?: string; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.field = field
  }
}
