import type { PersonSettings } from '#modules/desk/people/people.ts'
import { type Answer, API_KEY, type Stack } from './stack.ts'

/** A person who is signed in. */
export type Desk = {
  id: string
  cookie: string
  csrfToken: string
  /** Sends a request as a page of the service would. */
  send(method: string, path: string, body?: unknown): Promise<Answer>
}

type Requests = Pick<Stack, 'request'>

export const JSON_TYPE = { 'content-type': 'application/json' }

/** Adds a person. @returns Their id, and the secret of their invitation. */
export async function invite({ request }: Requests, settings: Partial<PersonSettings> = {}) {
  const { body } = await request('/v1/people', {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, ...JSON_TYPE },
    body: JSON.stringify({ name: 'Ada', role: 'clerk', ...settings }),
  })
  const { person, invitation } = body.data
  return { id: person.id as string, invitation: String(invitation).split('#invitation=')[1] }
}

/** @returns The person whom this answer has signed in. */
export function deskOf({ request }: Requests, { headers, body }: Answer): Desk {
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  const { person, csrfToken } = body.data
  return {
    id: person.id,
    cookie,
    csrfToken,
    send: (method, path, sent) =>
      request(path, {
        method,
        headers: {
          cookie,
          ...(method !== 'GET' && { 'x-csrf-token': csrfToken }),
          ...(sent !== undefined && JSON_TYPE),
        },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      }),
  }
}

export function useInvitation({ request }: Requests, invitation: string | undefined) {
  return request('/v1/session/invitation', {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ invitation }),
  })
}

/** Adds a person, and signs them in with their invitation. */
export async function signIn(
  stack: Requests,
  settings: Partial<PersonSettings> = {},
): Promise<Desk> {
  const { invitation } = await invite(stack, settings)
  return deskOf(stack, await useInvitation(stack, invitation))
}
