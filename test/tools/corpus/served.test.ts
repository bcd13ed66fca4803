import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { required } from '../../faults/support/machine.ts'
import { readCases } from '../../support/corpus/case.ts'
import { casesOfRun } from '../../support/corpus/cut.ts'
import { expectedOf, libraryTells } from '../../support/corpus/judge.ts'
import { formatServed, recordCases, servedFile } from '../../support/corpus/served.ts'
import type { CorpusCase } from '../../support/corpus/world.ts'
import { IS_LONG } from '../../support/long.ts'
import { pythonOfExamples } from '../examples/python.ts'

const python = required(await pythonOfExamples())
const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const SERVER = at('tools/corpus/serve.py')
const JUDGE = at('tools/examples/judge.py')

type Ran = { code: number; stdout: string; stderr: string }

/** Runs tools/corpus/run.py, which starts the program once for each case. */
function runCorpus(cases: readonly string[], program: readonly string[]): Promise<Ran> {
  const args = [at('tools/corpus/run.py'), ...cases, '--', ...program]
  return new Promise((resolve) => {
    execFile('python3', args, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })
}

const names = casesOfRun().map(({ name }) => name)

test('served.json of each case matches what its chain and sources answer today', async () => {
  const changed: string[] = []
  for await (const served of recordCases(names)) {
    const file = servedFile({ name: served.case })
    const same = existsSync(file) && readFileSync(file, 'utf8') === formatServed(served)
    if (!same) changed.push(served.case)
  }
  expect(changed, 'node scripts/run.mjs tools/corpus/record.ts').toEqual([])
})

describe('case.schema.json', () => {
  const schema = JSON.parse(readFileSync(at('tools/corpus/case.schema.json'), 'utf8'))
  const ajv = new Ajv2020({ allowUnionTypes: true }).addSchema(schema, 'case')
  const fits = (ref: string, value: unknown) =>
    ajv.validate(ref, value) || expect.fail(ajv.errorsText())

  test('accepts every served.json, and every expectation is a verdict', () => {
    for (const { name } of readCases()) {
      const served = JSON.parse(readFileSync(servedFile({ name }), 'utf8'))
      fits('case', served)
      fits('case#/$defs/verdict', served.expected)
    }
  })

  test('refuses an unknown member, status or check', () => {
    const served = JSON.parse(readFileSync(servedFile({ name: 'valid-minimal' }), 'utf8'))
    for (const change of [
      { colour: 'red' },
      { rpc: [] },
      { expected: { ...served.expected, status: 'fine' } },
      { expected: { ...served.expected, notPassed: ['record not_issued'] } },
    ])
      expect(ajv.validate('case', { ...served, ...change })).toBe(false)
  })
})

describe.skipIf(python === undefined)('served by Python from the files', () => {
  let server: ReturnType<typeof spawn>
  let served: CorpusCase[]
  beforeAll(async () => {
    server = spawn('python3', [SERVER], { stdio: ['pipe', 'pipe', 'inherit'] })
    if (!server.stdout) throw new Error('no standard output')
    const lines = createInterface(server.stdout)[Symbol.asyncIterator]()
    const { value } = await lines.next()
    served = JSON.parse(value ?? '').cases
  })
  afterAll(async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.stdin?.end()
    expect(await ended).toBe(0)
  })

  function caseOf(name: string): CorpusCase {
    const found = served.find((one) => one.case === name)
    if (!found) throw new Error(`no case ${name}`)
    return found
  }

  test('serves every case', () => {
    expect(served.map((one) => one.case)).toEqual(readCases().map(({ name }) => name))
  })

  test.concurrent.each(names)('the library judges %s as expected', async (name) => {
    const one = caseOf(name)
    expect(await libraryTells(one)).toEqual(expectedOf(one))
  })

  // The suite runs one of each kind in npm test, and all in npm run test:long.
  const kinds = new Map(readCases().map(({ name }) => [name.split('-', 1)[0], name]))
  const judged = IS_LONG ? [] : [...kinds.values()]
  test('run.py accepts the verdicts of the example in Python', async () => {
    const { code, stdout } = await runCorpus(judged, [python ?? '', JUDGE])
    expect(stdout).toMatch(/^corpus \d+\.\d+\.\d+: \d+ as expected, 0 differ/m)
    expect(code).toBe(0)
  })
})

describe('run.py', () => {
  const two = ['revoked-unspecified', 'malformed-typo']
  const printing = (text: string) => [process.execPath, '-e', `process.stdout.write('${text}')`]

  test.each([
    ['{"status":"valid","document":true}', 'status is "valid", not "revoked"'],
    ['{"error":"public_id_length"}', 'error is "public_id_length", not "public_id_checksum"'],
    ['{"status":"revoked","document":true,"notPassed":[]}', 'notPassed is [], not ["revocation'],
    ['{"status":"revoked","document":true,"disclosed":{"a":1}}', 'disclosed is {"a": 1}, not null'],
    ['[]', 'standard output is not one JSON object'],
    ['', 'standard output is not one JSON object'],
  ])('reports a difference for a program that prints %s', async (text, says) => {
    const { code, stdout } = await runCorpus(two, printing(text))
    expect(code).toBe(1)
    expect(stdout).toContain(says)
  })

  test('a verdict may omit codes, and what it cannot tell', async () => {
    const least = '{"status":"revoked","document":true,"notPassed":["revocation fail"]}'
    const { code } = await runCorpus(['revoked-unspecified'], printing(least))
    expect(code).toBe(0)
    expect((await runCorpus(['malformed-typo'], printing('{"error":null}'))).code).toBe(0)
  })

  test('a program that fails differs; one that skips everything has judged nothing', async () => {
    const failed = await runCorpus(two, [process.execPath, '-e', 'throw new Error("broken")'])
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('exit code 1') })
    const skipped = await runCorpus(two, printing('{"skip":"not today"}'))
    expect(skipped).toMatchObject({ code: 2, stdout: expect.stringContaining('not today') })
  })

  test('names what is missing', async () => {
    for (const [names, program, says] of [
      [[], [], 'usage: '],
      [['no-such-case'], ['true'], 'there is no case no-such-case'],
      [two, ['/no/such/program'], 'cannot be started: No such file'],
    ] as const) {
      const { code, stderr } = await runCorpus(names, program)
      expect(code).toBe(2)
      expect(stderr).toContain(says)
    }
  })
})
