import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChainReader } from '../../verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '../../verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '../../verifier/readers/json-rpc.ts'
import { verify } from '../../verifier/verify.ts'
import { required } from '../faults/support/machine.ts'
import { readCases } from '../support/corpus/case.ts'
import {
  type CorpusCase,
  startWorld,
  type World,
} from '../support/corpus/world.ts'
import golden from '../vectors/documents.json' with { type: 'json' }
import mustFail from '../vectors/must-fail.json' with { type: 'json' }
import { EXAMPLES, pythonOfExamples } from './python.ts'

const pathOf = (file: string) => new URL(file, import.meta.url).pathname
const PROGRAM = join(EXAMPLES, 'verify.py')

const python = required(await pythonOfExamples())

/** The program, run again and again in one Python, whose imports take longer than all cases. */
function startProgram() {
  const child = spawn(python ?? '', [pathOf('each.py'), PROGRAM], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    async run(args: string[]): Promise<{ code: number; output: string }> {
      child.stdin.write(`${JSON.stringify(args)}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error('Python has ended')
      return JSON.parse(value)
    },
    stop: () => child.stdin.end(),
  }
}

const publicIdOf = (one: CorpusCase) =>
  one.given.match(/publicId=([^&]*)/)?.[1] ?? one.given

function argumentsFor(one: CorpusCase): string[] {
  const [rpc = ''] = one.rpc
  return [
    ...['--rpc', rpc, '--registry', one.registry],
    ...one.ipfs.flatMap((url) => ['--ipfs', url]),
    ...['--max-head-age', `${one.maxHeadAge}`, '--timeout', `${one.timeout}`],
    ...['--', publicIdOf(one)],
  ]
}

/** What the library says of the same case. */
async function libraryOn(one: CorpusCase) {
  const timeout = one.timeout * 1000
  const [rpc = ''] = one.rpc
  const { valid, status, document, checks } = await verify(publicIdOf(one), {
    chain: createChainReader(createFetchProvider(rpc, timeout), one.registry),
    blocks: one.ipfs.map((url) => createIpfsGatewaySource(url, timeout)),
    maxHeadAge: one.maxHeadAge,
  })
  return { valid, status, document, checks }
}

const EXIT_CODES: Record<string, number> = { valid: 0, unverifiable: 2 }

describe.skipIf(python === undefined)('the corpus', () => {
  let world: World
  let program: ReturnType<typeof startProgram>
  beforeAll(async () => {
    world = await startWorld()
    program = startProgram()
  })
  afterAll(async () => {
    program.stop()
    await world.stop()
  })

  function caseOf(name: string): CorpusCase {
    const found = world.cases.find((one) => one.case === name)
    if (!found) throw new Error(`no case ${name}`)
    return found
  }

  // It asks one node, for its newest block.
  const cases = readCases().filter(
    ({ ask, nodes }) => ask.asOf === undefined && nodes.length === 1,
  )
  const named = (malformed: boolean) =>
    cases
      .filter(({ expected }) => 'error' in expected === malformed)
      .map(({ name }) => name)

  test.each(named(false))('behavior: %s', async (name) => {
    const one = caseOf(name)
    const { code, output } = await program.run(argumentsFor(one))
    const { asOf, ...verdict } = JSON.parse(output)
    expect(one.expected).toMatchObject({ status: verdict.status })
    // Check by check, passed ones too, and in the same order.
    expect(verdict).toEqual(await libraryOn(one))
    expect(asOf === null).toBe(verdict.checks.length === 1)
    expect(code).toBe(EXIT_CODES[verdict.status] ?? 1)
  })

  test.each(named(true))('behavior: %s', async (name) => {
    const one = caseOf(name)
    const { code, output } = await program.run(argumentsFor(one))
    expect({ code, answer: JSON.parse(output) }).toEqual({
      code: 2,
      answer: one.expected,
    })
  })

  test('behavior: the command prints the verdict and nothing else', async () => {
    const one = caseOf('valid-minimal')
    const { stdout, stderr } = await promisify(execFile)(python ?? '', [
      PROGRAM,
      ...argumentsFor(one),
    ])
    expect(JSON.parse(stdout)).toMatchObject(await libraryOn(one))
    expect(stderr).toBe('')
  })
})

test.skipIf(python === undefined)('behavior: the vectors', async () => {
  const { stdout } = await promisify(execFile)(python ?? '', [
    pathOf('vectors.py'),
    EXAMPLES,
    pathOf('../vectors'),
  ])
  expect(JSON.parse(stdout)).toEqual({
    codes: mustFail.cases
      .filter(({ format }) => format !== 'cid')
      .map(({ code }) => code),
    opened: golden.documents.map(
      ({ documentHash, cid, documentKey, document }) => ({
        documentHash,
        cid,
        documentKey,
        document,
      }),
    ),
  })
})
