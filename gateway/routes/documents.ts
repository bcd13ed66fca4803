import type { Hono } from 'hono'
import { parseDocumentFields } from '../../document/document.ts'
import type { Deps } from '../app.ts'
import { succeed } from '../envelope.ts'
import { ApiError } from '../errors.ts'
import { type Authorized, authorize } from '../middleware/authorize.ts'
import { presentDocument } from '../present.ts'
import { readJson } from '../request.ts'

/** POST …/documents: issues one document. */
export function documentRoutes(app: Hono<Authorized>, deps: Deps): void {
  const { issuing, addresses, findKey, wait } = deps
  for (const path of ['/v1/documents', '/api/documents'])
    app.post(path, authorize(findKey, 'documents:issue'), async (c) => {
      const fields = parseDocumentFields(await readJson(c))
      const idempotencyKey = idempotencyKeyOf(c.req.header('idempotency-key'))
      const issued = await issuing.issue({
        fields,
        tenant: c.get('grant').tenant,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        wait: prefersAsync(c.req.header('prefer')) ? 0 : wait,
      })
      return succeed(
        c,
        presentDocument(addresses, issued.document, issued),
        issued.status === 'pending' ? 202 : 201,
        { Location: `${addresses.baseUrl}/v1/documents/${issued.publicId}` },
      )
    })
}

/** RFC 7240. */
function prefersAsync(prefer: string | undefined): boolean {
  return (prefer ?? '')
    .split(',')
    .some((item) => item.trim().toLowerCase() === 'respond-async')
}

/** draft-ietf-httpapi-idempotency-key-header: a quoted string; one without quotes is taken as well. */
function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const key =
    /^"([\x20-\x21\x23-\x7e]{1,255})"$|^([\x21\x23-\x7e]{1,255})$/.exec(header)
  if (!key)
    throw new ApiError(
      'bad_idempotency_key',
      'Idempotency-Key must have 1 to 255 printable ASCII characters',
    )
  return key[1] ?? key[2]
}
