type PersonErrorCode =
  /** There is no person or passkey with this id. */
  | 'unknown'
  /** Nobody could administer the service afterwards. */
  | 'last_administrator'
  | 'too_many_people'
  | 'too_many_passkeys'
  /** The invitation is unknown, used, replaced or expired. */
  | 'invitation_invalid'
  /** The answer of the authenticator proves nothing. */
  | 'passkey_invalid'
  /** The identity provider did not confirm who the person is. */
  | 'provider_refused'
  | 'provider_unavailable'
  /** None of the person's groups has a role. */
  | 'no_role'
  /** The identity provider decides about name, role and how the person signs in. */
  | 'provider_decides'

/** Thrown when a person was not added, changed or signed in. The message has no secret. */
export class PersonError extends Error {
  override name = 'PersonError'
  readonly code: PersonErrorCode

  constructor(code: PersonErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
