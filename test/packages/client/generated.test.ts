import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goTool } from '#tools/go-tool.ts'
import { required } from '../../faults/support/machine.ts'
import { IS_LONG } from '../../support/long.ts'
import { API_KEY, type Stack, startStack } from '../../support/stack.ts'
import { pythonWith } from '../../tools/examples/python.ts'

// Clients that the generators of other projects make from /openapi.json.

const run = promisify(execFile)
const pathOf = (file: string) => join(import.meta.dirname, file)
const python = required(await pythonWith(pathOf('requirements.txt')))
const oapiCodegen = await goTool({
  module: 'github.com/oapi-codegen/oapi-codegen/v2',
  version: 'v2.8.2',
  command: './cmd/oapi-codegen',
})

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

let stack: Stack
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'generated-client-'))
  stack = await startStack()
  const description = await (await fetch(`${stack.url}/openapi.json`)).text()
  writeFileSync(join(folder, 'openapi.json'), description)
})
afterAll(async () => {
  await stack?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(python === undefined)(
  'openapi-python-client makes a client without a warning, and it issues, lists and revokes',
  async () => {
    writeFileSync(join(folder, 'config.yml'), CONFIG)
    const options = [
      '--url',
      `${stack.url}/openapi.json`,
      '--config',
      join(folder, 'config.yml'),
      '--output-path',
      join(folder, 'registry_client'),
      '--meta',
      'none',
      '--fail-on-warning',
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
  },
)

/** What both programs below learn. */
const LEARNED = {
  again: true,
  verified: [true, 'valid', true],
  revoked: 'keyCompromise',
  after: [false, 'revoked'],
  refused: 'bad_fields',
}

/** Generates a client with openapi-generator, a program of Java that a package of PyPI brings. */
async function generate(name: string, output: string, options: string[]): Promise<void> {
  const program = ['-c', 'from openapi_generator_cli import cli; cli()', 'generate']
  const args = ['-g', name, '-i', join(folder, 'openapi.json'), '-o', output, ...options]
  await run(python ?? '', [...program, ...args], { maxBuffer: 64 * 1024 * 1024 })
}

test.skipIf(python === undefined)(
  'openapi-generator makes a client in Python, and it issues, verifies and revokes',
  async () => {
    const output = join(folder, 'openapi-generator')
    await generate('python', output, ['--additional-properties', 'packageName=registry_client'])
    const args = [pathOf('openapi_generator.py'), output, stack.url, API_KEY]
    expect(JSON.parse((await run(python ?? '', args)).stdout)).toEqual(LEARNED)
  },
)

test.skipIf(oapiCodegen === undefined)(
  'oapi-codegen makes a client in Go, and it issues, verifies and revokes',
  async () => {
    const program = join(folder, 'go')
    cpSync(pathOf('generated-go'), program, { recursive: true })
    const output = join(program, 'registry', 'client.go')
    mkdirSync(dirname(output))
    const options = ['-generate', 'types,client', '-package', 'registry', '-o', output]
    await run(oapiCodegen ?? '', [...options, join(folder, 'openapi.json')])
    const { stdout } = await run('go', ['run', '.', stack.url, API_KEY], { cwd: program })
    expect(JSON.parse(stdout)).toEqual(LEARNED)
  },
)

const maven = IS_LONG
  ? required(
      spawnSync('mvn', ['--version']).status === 0 ? { value: 'mvn' } : { missing: 'needs Maven' },
    )
  : undefined

test.skipIf(python === undefined || maven === undefined)(
  'openapi-generator makes a client in Java, and it compiles',
  async () => {
    const output = join(folder, 'java')
    await generate('java', output, ['--library', 'native'])
    await run(maven ?? '', ['--quiet', '--batch-mode', 'compile'], { cwd: output })
  },
)
