import { type Client, createClient } from '#client/index.ts'

/** What a request needs of the rest of the desk. */
export type Surroundings = {
  csrfToken(): string
  /** Asks the person to sign in again. @returns Whether the same person has. */
  signInAgain(): Promise<boolean>
  /** Reads the session anew, since another tab may have begun one. */
  refresh(): Promise<boolean>
  /** Told whether the service is out of reach at the moment. */
  onTrouble(isInTrouble: boolean): void
}

export type Api = {
  client: Client
  /** A client that does not repeat what fails. */
  impatient: Client
  /** Whether a request with this Idempotency-Key was sent, and its answer did not come. */
  mayBeDone(idempotencyKey: string): boolean
}

const TIMEOUT_MS = 30_000
/** After signing in again, for requests of any size. */
const TIMEOUT_AGAIN_MS = 5 * 60_000
/** Within a run of many documents, a short outage is waited for. */
const MAX_ATTEMPTS = 6

/**
 * @returns A client whose requests carry the cookie. When the session has ended, they wait until
 * the person has signed in again, so that no form is lost.
 */
export function createApi(around: Surroundings): Api {
  const unanswered = new Set<string>()
  const send: typeof fetch = async (url, init = {}) => {
    let response = await reach(url, init, around, unanswered)
    // Whoever signs out need not sign in for it.
    if (init.method === 'DELETE' && `${url}`.endsWith('/v1/session')) return response
    for (let again = 0; again < 2 && (await isSessionOver(response, around)); again++)
      // The time that the person needed does not count.
      response = await reach(
        url,
        { ...init, signal: AbortSignal.timeout(TIMEOUT_AGAIN_MS) },
        around,
        unanswered,
      )
    return response
  }
  const options = { baseUrl: location.origin, fetch: send, timeoutMs: TIMEOUT_MS }
  return {
    client: createClient({ ...options, maxAttempts: MAX_ATTEMPTS }),
    impatient: createClient({
      ...options,
      maxAttempts: 1,
      fetch: (url, init = {}) => reach(url, init, { ...around, onTrouble() {} }, unanswered),
    }),
    mayBeDone: (key) => unanswered.has(`"${key}"`),
  }
}

async function reach(
  url: Parameters<typeof fetch>[0],
  init: RequestInit,
  { csrfToken, onTrouble }: Surroundings,
  unanswered: Set<string>,
): Promise<Response> {
  const sent = init.headers as Record<string, string>
  const key = sent['idempotency-key'] ?? ''
  const headers = { ...sent, 'x-csrf-token': csrfToken() }
  try {
    const response = await fetch(url, { ...init, headers, credentials: 'same-origin' })
    onTrouble(response.status === 503 || response.status === 429)
    // An outage says nothing about an earlier attempt.
    if (response.ok) unanswered.delete(key)
    else if (key !== '' && (await codeOf(response)) === 'outcome_unknown') unanswered.add(key)
    return response
  } catch (error) {
    onTrouble(true)
    if (key !== '') unanswered.add(key)
    throw error
  }
}

/** @returns Whether the session had ended, or its token had changed, and there is another now. */
async function isSessionOver(
  response: Response,
  { signInAgain, refresh }: Surroundings,
): Promise<boolean> {
  if (response.status === 401) return signInAgain()
  if (response.status !== 403) return false
  return (await codeOf(response)) === 'csrf_token_required' && refresh()
}

/** @returns The error code of an answer. */
async function codeOf(response: Response): Promise<unknown> {
  const { error } = await response
    .clone()
    .json()
    .catch(() => ({}))
  return error?.code
}
