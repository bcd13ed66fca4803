import { encodeBase64url } from '#document/base64url.ts'
import { isObject } from '#document/json.ts'
import { keyIn } from '#document/kind.ts'
import { credentialIn, InputError, type Subject } from './input.ts'

// Wallets over the browser's Digital Credentials API, by OpenID4VP 1.0, Appendix A. Requests are not
// signed: wallets name the origin of the page instead.

const PROTOCOL = 'openid4vp-v1-unsigned'
/** The id of the only query. */
const QUERY = 'document'
const NONCE_BYTES = 16
const SIGNED = ['ES256']
/** The fields to ask for unless the address names others: whose it is, what it is, and when. */
const USUAL_FIELDS = ['subjectName', 'category', 'issuedAt']

type Wanted = {
  /** The types of credentials (`vct`), of which one is enough. */
  types: string[]
  /** Names of fields, such as `subjectName` or `metadata.degree`. */
  fields: string[]
}

/**
 * Reads which credentials to ask for. A query must name types, which the page cannot know: whoever
 * links to the page does.
 *
 * @param query The query of the page's address: `vct` and `field`, each of them once or more.
 * @returns `undefined` if it names no type.
 */
export function readWanted(query: string): Wanted | undefined {
  const params = new URLSearchParams(query)
  const types = params.getAll('vct').filter((type) => type !== '')
  const fields = params.getAll('field').filter((name) => name !== '')
  if (types.length === 0) return undefined
  return { types, fields: fields.length > 0 ? fields : USUAL_FIELDS }
}

/** @returns Whether the page may ask wallets, which a page from disk has no origin for. */
export function canAskWallets(): boolean {
  const { DigitalCredential: api } = globalThis as {
    DigitalCredential?: { userAgentAllowsProtocol?: (protocol: string) => boolean }
  }
  if (api === undefined || location.host === '') return false
  return api.userAgentAllowsProtocol?.(PROTOCOL) ?? true
}

/**
 * Asks the reader's wallets for a credential. The browser allows that only right after a click.
 *
 * @returns A credential that has to be shown to this page now.
 * @throws {InputError} `wallet` without an answer, `credential` for another answer.
 */
export async function askWallets(wanted: Wanted): Promise<Subject> {
  const nonce = encodeBase64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const digital = { requests: [{ protocol: PROTOCOL, data: requestFor(wanted, nonce) }] }
  const request: CredentialRequestOptions & { digital: object } = { digital }
  const answer: unknown = await navigator.credentials.get(request).catch(() => {
    // Browsers do not tell a refusal from a wallet that is missing.
    throw new InputError('wallet')
  })
  return {
    ...credentialIn(readAnswer(answer)),
    shownTo: { audience: `origin:${location.origin}`, nonce },
  }
}

/** @returns The authorization request. */
export function requestFor({ types, fields }: Wanted, nonce: string): object {
  return {
    response_type: 'vp_token',
    response_mode: 'dc_api',
    nonce,
    client_metadata: {
      vp_formats_supported: {
        'dc+sd-jwt': { 'sd-jwt_alg_values': SIGNED, 'kb-jwt_alg_values': SIGNED },
      },
    },
    dcql_query: {
      credentials: [
        {
          id: QUERY,
          format: 'dc+sd-jwt',
          meta: { vct_values: types },
          claims: fields.map((name) => ({ path: pathOf(name) })),
        },
      ],
    },
  }
}

function pathOf(name: string): string[] {
  const key = keyIn(name)
  return key === undefined ? [name] : ['metadata', key]
}

/**
 * @param answer What the browser passes on from any program.
 * @returns The text of the only credential in it.
 * @throws {InputError} `wallet` for a wallet's error, `credential` for anything else.
 */
export function readAnswer(answer: unknown): string {
  const { protocol, data } = Object(answer) as Record<string, unknown>
  if (!isObject(data) || 'error' in data) throw new InputError('wallet')
  const shown = isObject(data.vp_token) ? data.vp_token[QUERY] : undefined
  const [text, ...others] = Array.isArray(shown) ? shown : []
  const isOne = protocol === PROTOCOL && others.length === 0
  if (!isOne || typeof text !== 'string') throw new InputError('credential')
  return text
}
