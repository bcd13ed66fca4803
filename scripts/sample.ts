// Shows a newcomer a document, its link, and its QR code: only on the first start of a local chain
// in a terminal, since the link holds a publicId, which opens the document and must not end up in a
// log.
import { toString as toText } from 'qrcode'
import type { Config } from '../gateway/config.ts'

export const SAMPLE = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
}

const TIMEOUT_MS = 10_000
const COLUMNS_WITHOUT_A_SIZE = 80
/** Black on white in any terminal: not every scanner reads the inverse. */
const QR_COLOURS = '\x1b[38;5;16;48;5;231m'
const RESET = '\x1b[0m'

/**
 * @returns Its `verifyUrl`; `undefined` if it could not be issued, which does not stop the service.
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

/** @returns Lines; empty when the terminal is too narrow for the code. */
export async function drawQrCode(
  text: string,
  columns = COLUMNS_WITHOUT_A_SIZE,
): Promise<string[]> {
  const code = await toText(text, { type: 'utf8', errorCorrectionLevel: 'L', margin: 4 })
  const lines = code.split('\n')
  if (lines.some((line) => line.length > columns)) return []
  return lines.map((line) => `${QR_COLOURS}${line}${RESET}`)
}

/** An address under which a listener on `host` can be reached. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
