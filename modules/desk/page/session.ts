import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { CallError, type Client, createClient, type Scope, type Session } from '#client/index.ts'

/** Before anybody has signed in. */
const visitor = createClient({ baseUrl: location.origin, maxAttempts: 3 })

/** @returns The session of the cookie; `undefined` if there is none. */
export async function readSession(): Promise<Session | undefined> {
  try {
    return await visitor.retrieveSession()
  } catch (error) {
    if (error instanceof CallError && error.status === 401) return undefined
    throw error
  }
}

/** @throws {CallError} `invitation_invalid` */
export function useInvitation(invitation: string): Promise<Session> {
  return visitor.useInvitation({ body: { invitation } })
}

/** @returns The host of the organisation's identity provider, if the service has one. */
export async function readProvider(): Promise<string | undefined> {
  const ways = await visitor.retrieveSignInWays().catch(() => undefined)
  return ways?.provider ?? undefined
}

/** Leaves the page for the identity provider. */
export async function goToProvider(): Promise<void> {
  const { url } = await visitor.beginProviderSignIn()
  location.assign(url)
}

type Request = Parameters<typeof startAuthentication>[0]['optionsJSON']
type Creation = Parameters<typeof startRegistration>[0]['optionsJSON']
type Assertion = Parameters<Client['signInWithPasskey']>[0]['body']['response']
type Attestation = Parameters<Client['registerPasskey']>[0]['body']['response']

/** @throws {CallError} `passkey_invalid`. @throws an error of WebAuthn. */
export async function usePasskey(): Promise<Session> {
  const optionsJSON = (await visitor.passkeySignInOptions()) as Request
  const response = await startAuthentication({ optionsJSON })
  return visitor.signInWithPasskey({ body: { response: response as Assertion } })
}

/**
 * Asks for a passkey that the person has, if this is not the first after a link.
 *
 * @throws {CallError} @throws an error of WebAuthn.
 */
export async function addPasskey(client: Client, label: string): Promise<void> {
  const { proof: asked, ...optionsJSON } = await client.passkeyOptions()
  const proof = asked && (await startAuthentication({ optionsJSON: asked as Request }))
  const response = await startRegistration({ optionsJSON: optionsJSON as Creation })
  await client.registerPasskey({
    body: {
      response: response as Attestation,
      label,
      ...(proof && { proof: proof as Assertion }),
    },
  })
}

/**
 * Browsers have passkeys only for a host that is a name, in a page that nobody on the way can
 * change.
 */
export function mayUsePasskeys(): boolean {
  return isSecureContext && 'PublicKeyCredential' in window && !isAddress()
}

/** Whether the page's host is a number. */
export function isAddress(): boolean {
  return /^(\d+\.){3}\d+$|^\[/.test(location.hostname)
}

export function may({ scopes }: Session, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin')
}

/** @returns The code with which the identity provider's answer was refused. */
export function refusalIn(fragment: string): string | undefined {
  return /^#refused=(\w+)$/.exec(fragment)?.[1]
}

/** @returns The secret of a sign-in link, or of its end; `undefined` for another text. */
export function invitationIn(text: string): string | undefined {
  const [, secret] = /(?:^|[#&])invitation=([^&\s]+)/.exec(text.trim()) ?? []
  return secret
}
