import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pythonWith } from '../examples/python.ts'
import { required } from '../faults/support/machine.ts'
import { API_KEY, type Stack, startStack } from '../support/stack.ts'

// A client that another project's generator makes from /openapi.json.

const run = promisify(execFile)
const pathOf = (file: string) => join(import.meta.dirname, file)
const python = required(await pythonWith(pathOf('requirements.txt')))

/** As docs/integrate.md says: the generator knows no NDJSON, and must be told that it is bytes. */
const CONFIG = `
package_name_override: registry_client
content_type_overrides:
  application/x-ndjson: application/octet-stream
  application/vnd.ipld.raw: application/octet-stream
  application/pdf: application/octet-stream
  application/zip: application/octet-stream
  application/statuslist+jwt: application/octet-stream
post_hooks: []
`

describe.skipIf(python === undefined)('openapi-python-client', () => {
  let stack: Stack
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'generated-client-'))
    stack = await startStack()
  })
  afterAll(async () => {
    await stack?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('default: makes a client without a warning, and it issues, lists and revokes', async () => {
    writeFileSync(join(folder, 'config.yml'), CONFIG)
    const options = [
      ...['--url', `${stack.url}/openapi.json`, '--config', join(folder, 'config.yml')],
      ...['--output-path', join(folder, 'registry_client'), '--meta', 'none', '--fail-on-warning'],
    ]
    await run(python ?? '', ['-m', 'openapi_python_client', 'generate', ...options])
    const args = [pathOf('generated.py'), folder, stack.url, API_KEY]
    const { publicId, modules, ...seen } = JSON.parse((await run(python ?? '', args)).stdout)
    expect(modules).toBeGreaterThan(100)
    expect(seen).toEqual({
      again: publicId,
      read: ['Ada Lovelace', 'Testville', 'valid'],
      listed: [publicId],
      revoked: ['revoked', 'keyCompromise'],
      verdict: [false, 'revoked'],
      refused: ['bad_fields', ['subjectName', 'subjectId']],
      batch: [201, 3],
      key: [true, ['verify']],
    })
  })
})
