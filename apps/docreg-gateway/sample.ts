// Shows a newcomer a document, its link and its QR code. It does so only on the first start of a
// local chain in a terminal, because the link contains a publicId, which opens the document and
// must not end up in a log.
import type { Config } from '#settings/config.ts'

export const SAMPLE = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
}

const TIMEOUT_MS = 10_000

/**
 * @returns The `verifyUrl`; `undefined` if the sample could not be issued, which does not stop the
 * gateway.
 */
export async function issueSample(
  { host, port }: Config,
  apiKey: string | undefined,
): Promise<string | undefined> {
  if (apiKey === undefined) return undefined
  try {
    const response = await fetch(`http://${reachable(host)}:${port}/v1/documents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(SAMPLE),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (response.status !== 201) return undefined
    const { data } = (await response.json()) as { data: { verifyUrl: string } }
    return data.verifyUrl
  } catch {
    return undefined
  }
}

/** @returns An address under which a listener on `host` can be reached. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
