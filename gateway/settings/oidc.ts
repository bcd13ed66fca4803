import * as v from 'valibot'
import { ROLES, type Role } from '#keys/roles.ts'
import { isLoopback } from '#verifier/readers/loopback.ts'

/** How an organisation signs its people in with OpenID Connect. */
export type ProviderSettings = {
  /** The provider's issuer URL. */
  issuer: string
  clientId: string
  /** Absent = a public client, which proves itself by PKCE alone. */
  clientSecret?: string
  scope: string
  /** The claim with the groups of a person. */
  groupsClaim: string
  /** The role of each group. */
  roles: ReadonlyMap<string, Role>
  /** The tenant of people who sign in for the first time. */
  tenant: string
}

const isRole = (text: string): text is Role => ROLES.some((role) => role === text)
const pairsOf = (text: string) =>
  text.split(',').map((pair) => {
    const [, group = '', role = ''] = /^\s*(.*)=\s*([a-z]*)\s*$/.exec(pair) ?? []
    return [group.trim(), role] as const
  })

/** `OIDC_…`: the identity provider with which people sign in. */
export const oidcVariables = {
  OIDC_ISSUER: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => {
        const url = URL.parse(text)
        const isLocal = url?.protocol === 'http:' && isLoopback(url.hostname)
        return url?.protocol === 'https:' || isLocal
      }, 'must be an https URL'),
    ),
  ),
  OIDC_CLIENT_ID: v.optional(v.string()),
  OIDC_CLIENT_SECRET: v.optional(v.string()),
  /** Groups and their roles, such as `registry-staff=clerk,registry-heads=administrator`. */
  OIDC_ROLES: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => pairsOf(text).every(([group, role]) => group !== '' && isRole(role)),
        `must be groups with roles, such as staff=clerk,heads=administrator; roles are ${ROLES.join(', ')}`,
      ),
      v.transform((text) => new Map(pairsOf(text) as [string, Role][])),
    ),
  ),
  OIDC_GROUPS_CLAIM: v.optional(v.string(), 'groups'),
  OIDC_SCOPE: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => text.split(' ').includes('openid'), 'must contain openid'),
    ),
    'openid profile',
  ),
  OIDC_TENANT: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[A-Za-z0-9._-]{1,64}$/,
        'must be 1 to 64 letters, digits, dots, underscores and hyphens',
      ),
    ),
    'default',
  ),
}
type Variables = v.InferOutput<v.ObjectSchema<typeof oidcVariables, undefined>>

const NEEDED = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_ROLES'] as const

/** @returns A problem when only some of the settings are there that belong together. */
export function oidcProblems(variables: Variables): string[] {
  const missing = NEEDED.filter((name) => variables[name] === undefined)
  const isMeant = missing.length < NEEDED.length || variables.OIDC_CLIENT_SECRET !== undefined
  return isMeant ? missing.map((name) => `${name} is required with the other OIDC settings`) : []
}

/** @returns The provider; `undefined` if there is none. */
export function oidcOf(e: Variables): ProviderSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLES: roles } = e
  if (issuer === undefined || clientId === undefined || roles === undefined) return undefined
  return {
    issuer,
    clientId,
    ...(e.OIDC_CLIENT_SECRET !== undefined && { clientSecret: e.OIDC_CLIENT_SECRET }),
    scope: e.OIDC_SCOPE,
    groupsClaim: e.OIDC_GROUPS_CLAIM,
    roles,
    tenant: e.OIDC_TENANT,
  }
}
