import { createHmac, hash, randomBytes } from 'node:crypto'
import type { Configuration } from 'openid-client'
import { clock } from '#base/clock.ts'
import { Refusal } from '#base/refusal.ts'
import { VISIBLE } from '#document/members.ts'
import { ROLES, type Role } from '#keys/roles.ts'
import type { ProviderSettings } from '#settings/oidc.ts'
import { isLoopback } from '#verifier/readers/loopback.ts'
import type { NewSession, Sessions } from './sessions.ts'

/** The identity provider of an organisation. */
export type Provider = {
  /** Its host, which people recognise. */
  name: string
  /**
   * @returns The address where a person signs in, and the secret of this attempt for a cookie.
   * @throws {Refusal} `provider_unavailable`
   */
  begin(): Promise<{ url: string; attempt: string }>
  /**
   * @param query The query with which the provider sends the person back.
   * @throws {Refusal} `provider_refused`, `no_role`, `provider_unavailable`, `too_many_people`
   */
  finish(attempt: string, query: URLSearchParams): Promise<NewSession>
}

const TIMEOUT_SECONDS = 10
/** The clock of the provider may be ahead by this much. */
const CLOCK_SKEW_SECONDS = 300
const MAX_NAME = 100
/** The maximum number of groups that are looked at. */
const MAX_GROUPS = 10_000

/** @param returnUrl Where the provider sends people back, as it is registered there. */
export function createProvider(
  settings: ProviderSettings,
  returnUrl: string,
  sessions: Pick<Sessions, 'useLogin' | 'endLogin'>,
): Provider {
  const { issuer, roles, tenant, groupsClaim, scope } = settings
  let discovered: Promise<Configuration> | undefined

  /** An outage is not remembered. */
  function discover(): Promise<Configuration> {
    discovered ??= configure(settings).catch((error) => {
      discovered = undefined
      throw error
    })
    return discovered
  }

  async function claimsOf(attempt: string, query: URLSearchParams): Promise<Claims> {
    const { authorizationCodeGrant, fetchUserInfo } = await load()
    const config = await discover()
    const { state, nonce, verifier } = partsOf(attempt)
    const tokens = await authorizationCodeGrant(config, new URL(`${returnUrl}?${query}`), {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    })
    const claims = tokens.claims() as Claims
    if (claims.iat > clock.wall() / 1000 + CLOCK_SKEW_SECONDS)
      throw new Error('the ID token is dated in the future')
    const isComplete = claims[groupsClaim] !== undefined && nameIn(claims) !== undefined
    if (isComplete || !config.serverMetadata().userinfo_endpoint) return claims
    return { ...(await fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims }
  }

  return {
    name: new URL(issuer).host,
    async begin() {
      const attempt = randomBytes(32).toString('base64url')
      const { state, nonce, challenge } = partsOf(attempt)
      try {
        const { buildAuthorizationUrl } = await load()
        const url = buildAuthorizationUrl(await discover(), {
          redirect_uri: returnUrl,
          scope,
          state,
          nonce,
          code_challenge: challenge,
          code_challenge_method: 'S256',
        })
        return { url: url.href, attempt }
      } catch (cause) {
        throw unavailable(cause)
      }
    },
    async finish(attempt, query) {
      const claims = await claimsOf(attempt, query).catch((cause) => {
        if (isOutage(cause)) throw unavailable(cause)
        throw new Refusal('provider_refused', 'the identity provider did not confirm it', { cause })
      })
      const digest = hash('sha256', JSON.stringify([claims.iss, claims.sub]), 'hex')
      const role = roleOf(claims[groupsClaim], roles)
      const name = nameIn(claims) ?? readable(claims.sub) ?? digest.slice(0, 12)
      if (role) return sessions.useLogin({ digest, name, role, tenant })
      // Whoever has lost the group works here no longer.
      await sessions.endLogin(digest)
      throw new Refusal('no_role', 'no group of the person has a role in the desk')
    },
  }
}

type Claims = { iss: string; sub: string; iat: number; [claim: string]: unknown }

/** Most gateways have no provider. */
const load = () => import('openid-client')

async function configure({ issuer, clientId, clientSecret }: ProviderSettings) {
  const client = await load()
  const url = new URL(issuer)
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname)
  return client.discovery(
    url,
    clientId,
    undefined,
    clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
    {
      timeout: TIMEOUT_SECONDS,
      // The signature of the ID token is checked too, not only the connection that it came over.
      execute: [
        client.enableNonRepudiationChecks,
        ...(isLocal ? [client.allowInsecureRequests] : []),
      ],
    },
  )
}

/** @returns What an attempt consists of. All of it follows from the secret in the cookie. */
function partsOf(attempt: string) {
  const part = (name: string) => createHmac('sha256', attempt).update(name).digest('base64url')
  const verifier = part('verifier')
  const challenge = hash('sha256', verifier, 'base64url')
  return { state: part('state'), nonce: part('nonce'), verifier, challenge }
}

/** @returns The highest role that one of the groups has. */
function roleOf(groups: unknown, roles: ProviderSettings['roles']): Role | undefined {
  const list: unknown[] = Array.isArray(groups) ? groups.slice(0, MAX_GROUPS) : [groups]
  const own = list.map((group) => (typeof group === 'string' ? roles.get(group) : undefined))
  return ROLES.findLast((role) => own.includes(role))
}

/** @returns The first name that has something to see. */
function nameIn({ name, preferred_username, email }: Record<string, unknown>): string | undefined {
  return [name, preferred_username, email].map(readable).find((one) => one !== undefined)
}

/** Marks that change the order of the text around a name. */
const BIDI_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/**
 * @returns A name as people have it here: of one line, without marks, not too long, and with
 * something to see; `undefined` if nothing is left.
 */
function readable(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  const line = name.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
  const short = [...line.replaceAll(BIDI_MARKS, '').trim()].slice(0, MAX_NAME).join('')
  return VISIBLE.test(short) ? short : undefined
}

const unavailable = (cause: unknown) =>
  new Refusal('provider_unavailable', 'the identity provider cannot be reached', { cause })

const OUTAGES = ['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']

/** A failed `fetch` is a TypeError. */
function isOutage(error: unknown): boolean {
  if (error instanceof TypeError) return true
  const { code, status } = error as { code?: string; status?: number }
  return OUTAGES.includes(code ?? '') || (status ?? 0) >= 500
}
