import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyTemplate } from '#certificates/template.ts'
import { parseCsv } from '#table/csv.ts'
import { baseFonts } from '#test/support/base-fonts.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { readBundle } from '#verifier/bundle.ts'
import { bundleInPdf } from '#verifier/pdf.ts'

let cache: string
let dir: string
let stack: Stack
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'certificates-'))
  const template = join(dir, 'our letter')
  copyTemplate('letter', template)
  const settings = join(template, 'settings.json')
  const texts = JSON.parse(readFileSync(settings, 'utf8'))
  writeFileSync(settings, JSON.stringify({ ...texts, walletCode: true }))
  cache = await baseFonts()
  stack = await startStack({ CERTIFICATE_PACKS: cache, CERTIFICATE_TEMPLATES: dir })
})
afterAll(async () => {
  await stack?.stop()
  for (const one of [dir, cache]) rmSync(one, { recursive: true, force: true })
})

const post = (path: string, body: unknown, key = API_KEY, from = stack) =>
  from.request(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const print = (documents: string[], key?: string) =>
  post('/v1/certificates?template=our%20letter', { documents }, key)
const issue = async (fields: object) => (await stack.issue({ ...ADA, ...fields })).body.data
const publicIdIn = async (pdf: Uint8Array) => readBundle(await bundleInPdf(pdf)).bundle.publicId

test('prints one document as a PDF with its bundle, by publicId or hash', async () => {
  const { publicId, documentHash } = await issue({})
  for (const name of [publicId, documentHash]) {
    const { status, headers, body } = await print([name])
    expect([status, headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(headers.get('cache-control')).toBe('no-store')
    expect(await publicIdIn(body)).toBe(publicId)
  }
})

test('a template with walletCode prints a link for the wallet, also of a specimen', async () => {
  const { publicId, verifyUrl } = await issue({})
  const specimen = await post('/v1/certificates/specimen?template=our%20letter', ADA)
  for (const [{ body }, link] of [
    [await print([publicId]), `${verifyUrl}&for=wallet`],
    [specimen, `${stack.url}/verify#for=wallet`],
  ] as const)
    expect(Buffer.from(body).toString('latin1')).toContain(`/URI (${link})`)
})

test('prints several as a ZIP, and names those that are not valid', async () => {
  const [ada, bob, cleo] = await Promise.all(
    ['Ada', 'Bob/../x', 'Cleo'].map((subjectName) => issue({ subjectName })),
  )
  await post(`/v1/documents/${cleo.documentHash}/revoke`, {})
  const unknown = `0x${'ab'.repeat(32)}`
  const { status, body } = await print([ada.documentHash, cleo.publicId, unknown, bob.publicId])
  expect(status).toBe(200)
  const files = unzipSync(body)
  const names = [ada, bob].map(({ documentHash }) => documentHash.slice(2, 10))
  expect(Object.keys(files)).toEqual([
    `Ada ${names[0]}.pdf`,
    `Bob x ${names[1]}.pdf`,
    'failed.json',
    'not-printed.csv',
  ])
  const ids = Object.values(files).slice(0, 2).map(publicIdIn)
  expect(await Promise.all(ids)).toEqual([ada.publicId, bob.publicId])
  expect(JSON.parse(strFromU8(files['failed.json'] as Uint8Array))).toMatchObject([
    { place: 2, code: 'not_valid' },
    { place: 3, code: 'not_found' },
  ])
})

test('names people whose script has no font, with script, reason and command', async () => {
  const names = ['Ada', '王小明', '=김철수', 'გიორგი']
  const issued = await Promise.all(names.map((subjectName) => issue({ subjectName })))
  const { body } = await print(issued.map(({ documentHash }) => documentHash))
  const files = unzipSync(body)
  expect(JSON.parse(strFromU8(files['failed.json'] as Uint8Array))).toEqual([
    { place: 2, code: 'fonts_missing', message: NO_CHINESE },
    { place: 3, code: 'fonts_missing', message: NO_CHINESE.replace('Chinese', 'Korean') },
    {
      place: 4,
      code: 'fonts_missing',
      message: expect.stringMatching(/^no font has its Georgian characters: put one into the /),
    },
  ])
  const { rows } = parseCsv(files['not-printed.csv'] as Uint8Array)
  expect(rows.map(({ cells }) => [cells.subjectName, cells.documentHash])).toEqual(
    // A spreadsheet would run a name that begins like a formula.
    [names[1], `'${names[2]}`, names[3]].map((name, i) => [name, issued[i + 1].documentHash]),
  )
  expect(rows[0]?.cells).toMatchObject({ code: 'fonts_missing', message: NO_CHINESE })

  const { status, body: alone } = await print([issued[1].publicId])
  expect([status, alone.error.code, alone.error.message]).toEqual([
    501,
    'fonts_missing',
    NO_CHINESE,
  ])
})
const NO_CHINESE =
  'the fonts for Chinese are not installed: docreg-gateway certificates --all installs them'

test('prints documents of a batch, by hash too', async () => {
  const rows = ['Ada', 'Bob'].map((subjectName) => JSON.stringify({ ...ADA, subjectName }))
  const answer = await stack.request('/v1/batches', {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-ndjson' },
    body: rows.join('\n'),
  })
  const lines = Buffer.from(answer.body).toString().trim().split('\n')
  const issued = lines.map((line) => JSON.parse(line).data)
  const { body } = await print([issued[0].publicId, issued[1].documentHash])
  const files = unzipSync(body)
  expect(await Promise.all(Object.values(files).map(publicIdIn))).toEqual(
    issued.map(({ publicId }) => publicId),
  )
})

test('a specimen is printed without a document', async () => {
  const { status, body } = await post('/v1/certificates/specimen?template=our%20letter', ADA)
  expect(status).toBe(200)
  expect(Buffer.from(body.subarray(0, 5)).toString()).toBe('%PDF-')
  await expect(bundleInPdf(body)).rejects.toMatchObject({ code: 'bundle_malformed' })
})

test('uses the template of the kind by default', async () => {
  const specimen = () => post('/v1/certificates/specimen', { ...ADA, category: 'diploma' })
  const put = (method: string, template?: string) =>
    stack.request('/v1/kinds/diploma', {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      ...(template && {
        body: JSON.stringify({
          display: [{ locale: 'en', name: 'Diploma' }],
          document_registry: { template },
        }),
      }),
    })
  expect((await specimen()).body.error.details).toEqual([
    { field: 'template', message: 'must be one of our letter' },
  ])
  await put('PUT', 'our letter')
  expect((await specimen()).status).toBe(200)
  // The kind is the registrar's, and whoever prints has not named a template.
  const named = (name: string) => `: the kind diploma has the template "${name}"`
  const unprintable = { ...ADA, category: 'diploma', subjectName: '\u{13000}' }
  const { status, body } = await post('/v1/certificates/specimen', unprintable)
  expect([status, body.error.message]).toEqual([
    422,
    `no font has one of its characters${named('our letter')}`,
  ])
  await put('PUT', 'their letter')
  const wrong = (await specimen()).body.error
  expect([wrong.code, wrong.details[0].message]).toEqual([
    'bad_query',
    `must be one of our letter${named('their letter')}`,
  ])
  await put('DELETE')
})

test('lists the templates, and whether they can be used', async () => {
  const headers = { authorization: `Bearer ${stack.key(['documents:read'])}` }
  const { body } = await stack.request('/v1/certificates', { headers })
  expect(body.data).toEqual({ isAvailable: true, templates: ['our letter'] })
})

test('names what is wrong with a request', async () => {
  const codeOf = async (path: string, body: unknown, key?: string) => {
    const answer = await post(path, body, key)
    const { code, details = [] } = answer.body.error
    return [answer.status, code, ...details.map(({ field }: { field: string }) => field)]
  }
  const path = '/v1/certificates?template=our%20letter'
  expect(await codeOf('/v1/certificates?template=x', { documents: ['x'] })).toEqual([
    400,
    'bad_query',
    'template',
  ])
  expect(await codeOf('/v1/certificates?template=..', { documents: ['x'] })).toEqual([
    400,
    'bad_query',
    'template',
  ])
  expect(await codeOf(path, { documents: [], more: 1 })).toEqual([
    422,
    'bad_fields',
    'documents',
    'more',
  ])
  expect(await codeOf(path, { documents: Array(101).fill('x') })).toEqual([
    422,
    'bad_fields',
    'documents',
  ])
  expect(await codeOf(path, { documents: ['x'] })).toEqual([400, 'bad_public_id', 'publicId'])
  const specimen = path.replace('?', '/specimen?')
  expect(await codeOf(specimen, { ...ADA, subjectId: 'x' })).toEqual([
    422,
    'bad_fields',
    'subjectId',
  ])
  expect(await codeOf(specimen, { ...ADA, subjectName: 'Unprintable \u{13000}' })).toEqual([
    422,
    'unprintable',
  ])
  const reader = stack.key(['documents:read'])
  expect(await codeOf(specimen, ADA, reader)).toEqual([403, 'forbidden'])
})

test('prints no document of another tenant', async () => {
  const { publicId } = await issue({})
  const other = stack.key(['documents:read'], 'other')
  const { status, body } = await print([publicId], other)
  expect([status, body.error.code]).toEqual([404, 'not_found'])
})

test('slow readers do not block others', async () => {
  const ofTenant = async (tenant: string) => {
    const key = stack.key(['documents:issue', 'documents:read'], tenant)
    const { body } = await post('/v1/documents', { ...ADA, subjectName: tenant }, key)
    return { key, documents: Array(100).fill(body.data.documentHash) }
  }
  const stopped = new AbortController()
  const unread = async ({ key, documents }: { key: string; documents: string[] }) => {
    const response = await fetch(`${stack.url}/v1/certificates?template=our%20letter`, {
      method: 'POST',
      signal: stopped.signal,
      body: JSON.stringify({ documents }),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    return response.status
  }
  const [one, two] = [await ofTenant('one'), await ofTenant('two')]
  const all = await Promise.all([one, one, one, two, two, two].map(unread))
  expect(all).toEqual(Array(6).fill(200))
  expect((await post('/v1/certificates/specimen?template=our%20letter', ADA)).status).toBe(200)
  expect(await unread(one)).toBe(503)
  stopped.abort()
})

test('reports that the engine is missing', async () => {
  const bare = await startStack({ CERTIFICATE_PACKS: join(dir, 'nothing') })
  try {
    const { status, body } = await post(
      '/v1/certificates/specimen?template=letter',
      ADA,
      API_KEY,
      bare,
    )
    expect([status, body.error.code]).toEqual([501, 'certificates_unavailable'])
  } finally {
    await bare.stop()
  }
})
