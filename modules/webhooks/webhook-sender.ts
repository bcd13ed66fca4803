import { Webhook } from 'standardwebhooks'
import { clock } from '#base/clock.ts'
import { VERSION } from '#base/version.ts'
import type { SendMessage } from './courier.ts'

const TIMEOUT_MS = 10_000
const GONE = 410

/**
 * Sends messages as in Standard Webhooks (https://www.standardwebhooks.com): one POST with the
 * headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. It follows no redirect and
 * does not read the body of the answer.
 *
 * @param post A `fetch` that connects only where it may.
 */
export function createWebhookSender(post: typeof fetch): SendMessage {
  return async (url, { id, body, secrets }, signal) => {
    const now = new Date(clock.wall())
    const signatures = secrets.map((secret) => new Webhook(secret).sign(id, now, body))
    try {
      const response = await post(url, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: {
          'Content-Type': 'application/json',
          'User-Agent': `document-registry/${VERSION}`,
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
          'webhook-signature': signatures.join(' '),
        },
        body,
      })
      await response.body?.cancel()
      if (response.ok) return { outcome: 'delivered' }
      if (response.status === GONE) return { outcome: 'gone' }
      const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), now.getTime())
      return { outcome: 'failed', ...(retryAfterMs !== undefined && { retryAfterMs }) }
    } catch {
      return { outcome: 'failed' }
    }
  }
}

/**
 * @param value Seconds, or an HTTP date (RFC 9110 §10.2.3).
 * @param now Milliseconds of the Unix epoch.
 * @returns Milliseconds; `undefined` for anything else, and for a time that has passed.
 */
function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return wait > 0 ? wait : undefined
}
