import { readAtMost } from '#document/bytes.ts'
import { FormatError } from '#document/errors.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { objectionTo } from '#verifier/checks/identity.ts'
import {
  type IdentityAddress,
  type IdentityStatement,
  readDidDocument,
} from '#verifier/identity.ts'
import { IDENTITY_TIMEOUT_MS, MAX_DID_DOCUMENT } from '#verifier/readers/identity-source.ts'

/** The domain, and what its file should say. */
export type Claim = {
  address: IdentityAddress
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  issuerId: number
  accounts: Hex[]
}

/** A finding. With `warning`, verifiers can still read the file. */
export type Finding = {
  check: 'server' | 'redirect' | 'type' | 'cors' | 'document' | 'issuer' | 'account'
  outcome: 'pass' | 'fail' | 'warning'
  /** A stable code; `unreachable` = nothing else could be checked. */
  code: string
  message: string
}

/** The origin of an imaginary page, which no server should allow by name. */
const ORIGIN = 'https://verifier.invalid'

/** @returns The findings at the address of the domain's DID document, in order. */
export async function inspectIdentity(claim: Claim): Promise<Finding[]> {
  const { url } = claim.address
  let response: Response
  let bytes: Uint8Array
  try {
    response = await fetch(url, {
      headers: { origin: ORIGIN },
      redirect: 'manual',
      signal: AbortSignal.timeout(IDENTITY_TIMEOUT_MS),
    })
  } catch (error) {
    return [found('server', 'fail', 'unreachable', reasonOf(error))]
  }
  const { status, headers } = response
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null) {
    await response.body?.cancel()
    const message = `redirects to ${location}, but verifiers follow no redirect: serve the file here`
    return [found('redirect', 'fail', 'redirect', message)]
  }
  if (status === 429 || status === 503) {
    await response.body?.cancel()
    return [found('server', 'fail', 'unreachable', `answers ${status} for now: try again later`)]
  }
  if (status !== 200) {
    await response.body?.cancel()
    return [found('server', 'fail', 'status', `answers ${status}, not 200`)]
  }
  try {
    bytes = await readAtMost(response.body, MAX_DID_DOCUMENT)
  } catch (error) {
    return [found('server', 'fail', 'body', reasonOf(error))]
  }
  return [
    found('server', 'pass', 'ok', `answers 200 with ${bytes.length} bytes`),
    corsOf(headers.get('access-control-allow-origin')),
    typeOf(headers.get('content-type')),
    ...documentOf(bytes, claim),
  ]
}

const found = (
  check: Finding['check'],
  outcome: Finding['outcome'],
  code: string,
  message: string,
): Finding => ({ check, outcome, code, message })

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: unknown }
  if (name === 'TimeoutError') return `does not answer within ${IDENTITY_TIMEOUT_MS / 1000} s`
  return cause instanceof Error ? cause.message : message
}

function corsOf(allowed: string | null): Finding {
  if (allowed === '*' || allowed === ORIGIN)
    return found('cors', 'pass', 'ok', `Access-Control-Allow-Origin: ${allowed}`)
  return found(
    'cors',
    'fail',
    'no_cors',
    `Access-Control-Allow-Origin is ${allowed ?? 'missing'}, not *: pages in a browser cannot read the file`,
  )
}

/** Verifiers ignore the type, but HTML is probably an error page. */
function typeOf(type: string | null): Finding {
  return type !== null && /^application\/(?:[a-z.+-]+\+)?json\b/i.test(type)
    ? found('type', 'pass', 'ok', type)
    : found(
        'type',
        'warning',
        'content_type',
        `Content-Type is ${type ?? 'missing'}; application/json is usual`,
      )
}

function documentOf(bytes: Uint8Array, claim: Claim): Finding[] {
  const { did } = claim.address
  try {
    const statement = readDidDocument(bytes, did)
    return [
      found('document', 'pass', 'ok', `a DID document of ${did}`),
      ...statementOf(statement, claim),
    ]
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    const fields = error.fields.map((bad) => `${bad.field} ${bad.message}`)
    const message = [error.message, ...fields].join('; ')
    return [found('document', 'fail', 'malformed', message)]
  }
}

function statementOf(
  statement: IdentityStatement,
  { registry, issuerId, accounts }: Claim,
): Finding[] {
  const named = `issuer ${issuerId} of ${registry}`
  if (objectionTo({ ...statement, accounts: [] }, registry, issuerId, ''))
    return [found('issuer', 'fail', 'denied', `does not name ${named}`)]
  return [
    found('issuer', 'pass', 'linked', `names ${named}`),
    ...accounts.map((account) =>
      objectionTo(statement, registry, issuerId, account)
        ? found('account', 'fail', 'account_not_listed', `does not list ${account}`)
        : found('account', 'pass', 'ok', `${account} may issue`),
    ),
  ]
}

/** @returns The configuration of common servers that lets pages of any origin read the file. */
export function serverLinesFor({ url }: IdentityAddress): string[] {
  const { pathname } = new URL(url)
  const folder = pathname.slice(0, pathname.lastIndexOf('/') + 1)
  return [
    '',
    `Apache, in .htaccess of the folder ${folder} (with mod_headers):`,
    '',
    '  <Files "did.json">',
    '    ForceType application/json',
    '    Header set Access-Control-Allow-Origin "*"',
    '  </Files>',
    '',
    'nginx, in the server block:',
    '',
    `  location = ${pathname} {`,
    '    default_type application/json;',
    '    add_header Access-Control-Allow-Origin "*" always;',
    '  }',
    '',
    'Netlify and Cloudflare Pages, in the file _headers:',
    '',
    `  ${pathname}`,
    '    Access-Control-Allow-Origin: *',
    '    Content-Type: application/json',
    '',
    'GitHub Pages sends the header itself; an empty file .nojekyll in the root makes it publish',
    'folders that begin with a dot.',
  ]
}
