// Requests to a gateway, and the documents that benchmarks issue.
import { request as httpRequest } from 'node:http'
import { pipeline } from 'node:stream/promises'

/** A gateway, and an API key for it. */
export type Target = { url: string; key: string }

export const documentOf = (number: number | string) => ({
  subjectName: 'Ada Lovelace',
  subjectId: `${number}`,
  category: 'diploma',
  issuedAt: '2026-01-31',
})

/** @param body NDJSON, or what becomes JSON. */
export const post = ({ url, key }: Target, path: string, body: string | object) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })

type Issued = { publicId: string; documentHash: string }

/** Issues a document. @throws {Error} unless it is on the chain. */
export async function issue(target: Target, number: number): Promise<Issued> {
  const response = await post(target, '/v1/documents', documentOf(number))
  if (response.status !== 201) throw new Error(`issuing answered ${response.status}`)
  return ((await response.json()) as { data: Issued }).data
}

function* linesOf(series: number, size: number): Generator<string> {
  for (let i = 0; i < size; i++)
    yield `${JSON.stringify({
      subjectName: `Person ${i} of ${series}`,
      subjectId: `${series}${String(i).padStart(7, '0')}`,
      category: 'birth_certificate',
      issuedAt: '2026-01-31',
      metadata: { registrar: 'Testville', volume: `${i % 100}` },
    })}\n`
}

/**
 * Issues a batch, and keeps neither its documents nor its answers.
 *
 * @param series The number of the batch; batches of different numbers have different documents.
 * @returns The transaction, and the publicId of the last document.
 * @throws {Error} unless all documents are issued.
 */
export async function issueBatch({ url, key }: Target, series: number, size: number) {
  const upload = httpRequest(`${url}/v1/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
  })
  const answered = new Promise<{ transaction: string; publicId: string }>((resolve, reject) => {
    upload.on('error', reject)
    upload.on('response', (response) => {
      let [issued, rest, last, transaction] = [0, '', '', '']
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        last = lines.at(-1) ?? last
        transaction ||= /"blockchainHash":"(0x\w+)"/.exec(text)?.[1] ?? ''
        issued += lines.filter((line) => line.includes('"success":true')).length
      })
      response.on('end', () => {
        const publicId = /"publicId":"([^"]+)"/.exec(last)?.[1] ?? ''
        if (response.statusCode === 201 && issued === size) resolve({ transaction, publicId })
        else reject(new Error(`${response.statusCode}, ${issued} of ${size} issued`))
      })
    })
  })
  await pipeline(linesOf(series, size), upload)
  return answered
}
