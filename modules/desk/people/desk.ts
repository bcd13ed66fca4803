import { isLoopback } from '#verifier/readers/loopback.ts'

/**
 * @param baseUrl The address of the service, without a slash at the end.
 * @returns The address of the desk. Passkeys need a name, so on this machine it is `localhost`.
 */
export function deskUrlOf(baseUrl: string): string {
  const url = new URL(`${baseUrl}/desk`)
  if (isLoopback(url.hostname)) url.hostname = 'localhost'
  return url.href
}

/** @returns Where an identity provider sends people back to. */
export function returnUrlOf(baseUrl: string): string {
  return deskUrlOf(baseUrl).replace(/\/desk$/, '/v1/session/provider/return')
}

/** @returns The link that signs a person in once. Fragments stay in the browser. */
export function invitationLinkOf(baseUrl: string, secret: string): string {
  return `${deskUrlOf(baseUrl)}#invitation=${secret}`
}
