import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Example, startExample } from '../examples/example.ts'
import { pythonOfExamples } from '../examples/python.ts'
import { required } from '../faults/support/machine.ts'
import { readCases } from '../support/corpus/case.ts'
import { casesOfRun } from '../support/corpus/cut.ts'
import { expectedOf, libraryTells } from '../support/corpus/judge.ts'
import { formatServed, recordCases, servedFile } from '../support/corpus/served.ts'
import type { CorpusCase } from '../support/corpus/world.ts'

const python = required(await pythonOfExamples())
const SERVER = new URL('../../corpus/serve.py', import.meta.url).pathname

const names = casesOfRun().map(({ name }) => name)

test('behavior: served.json of each case matches what its chain and sources answer today', async () => {
  const changed: string[] = []
  for await (const served of recordCases(names)) {
    const file = servedFile({ name: served.case })
    const same = existsSync(file) && readFileSync(file, 'utf8') === formatServed(served)
    if (!same) changed.push(served.case)
  }
  expect(changed, 'node scripts/run.mjs corpus/record.ts').toEqual([])
})

describe.skipIf(python === undefined)('served by Python from the files', () => {
  let server: ReturnType<typeof spawn>
  let served: CorpusCase[]
  let example: Example
  beforeAll(async () => {
    server = spawn('python3', [SERVER], { stdio: ['pipe', 'pipe', 'inherit'] })
    if (!server.stdout) throw new Error('no standard output')
    const lines = createInterface(server.stdout)[Symbol.asyncIterator]()
    const { value } = await lines.next()
    served = JSON.parse(value ?? '').cases
    example = startExample(python ?? '', 1)
  })
  afterAll(async () => {
    await example?.stop()
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.stdin?.end()
    expect(await ended).toBe(0)
  })

  function caseOf(name: string): CorpusCase {
    const found = served.find((one) => one.case === name)
    if (!found) throw new Error(`no case ${name}`)
    return found
  }

  test('default: serves every case', () => {
    expect(served.map((one) => one.case)).toEqual(readCases().map(({ name }) => name))
  })

  test.concurrent.each(names)('behavior: the library judges %s as it should', async (name) => {
    const one = caseOf(name)
    expect(await libraryTells(one)).toEqual(expectedOf(one))
  })

  // One of each kind: test/examples/ runs all of them.
  const kinds = new Map(
    readCases()
      .filter(
        ({ ask, nodes, present }) =>
          present === undefined &&
          ask.asOf === undefined &&
          ask.issuerDomain === undefined &&
          nodes.length === 1,
      )
      .filter(({ expected }) => 'status' in expected)
      .map(({ name }) => [name.split('-', 1)[0] ?? '', name]),
  )
  test.each([...kinds.values()])(
    'behavior: the example in Python judges %s as it should',
    async (name) => {
      const one = caseOf(name)
      const { status } = JSON.parse((await example.run(one)).output)
      expect(one.expected).toMatchObject({ status })
    },
  )
})
