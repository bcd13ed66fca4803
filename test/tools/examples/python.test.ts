import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import mustFail from '#corpus/vectors/must-fail.json' with { type: 'json' }
import presentations from '#corpus/vectors/presentations.json' with { type: 'json' }
import type { Check } from '#verifier/verdict.ts'
import { required } from '../../faults/support/machine.ts'
import { CAN_ASK, casesOfRun } from '../../support/corpus/cut.ts'
import { libraryVerdict, publicIdOf } from '../../support/corpus/judge.ts'
import { type CorpusCase, startWorld, type World } from '../../support/corpus/world.ts'
import { argumentsFor, EXAMPLE, type Example, startExample } from './example.ts'
import { EXAMPLES, pythonOfExamples } from './python.ts'

const pathOf = (file: string) => new URL(file, import.meta.url).pathname
const python = required(await pythonOfExamples())

/** The example tells the codes of malformed content apart by layer only. */
function coarse(code: string): string {
  if (/^public_id_/.test(code)) return 'public_id_malformed'
  if (/^sealed_/.test(code)) return 'sealed_format'
  return /^(json_|not_canonical$|document_fields$)/.test(code) ? 'document_format' : code
}

/** The library's verdict on the case, in those codes. */
async function libraryOn(one: CorpusCase) {
  const { valid, status, checks, ...shown } = await libraryVerdict(one)
  const coarsened = checks.map((check) =>
    check.check === 'content' ? { ...check, code: coarse(check.code) } : check,
  )
  const found = 'disclosed' in shown ? { disclosed: shown.disclosed } : { document: shown.document }
  const domain = shown.blockchainProof?.issuer.domain ?? null
  return { valid, status, ...found, domain, checks: coarsened }
}

/** The formats that the example must read. */
const READ = ['publicId', 'json', 'canonical', 'document', 'sealed', 'batchBlock', 'disclosures']

const EXIT_CODES: Record<string, number> = { valid: 0, unverifiable: 2 }

describe.skipIf(python === undefined)('the corpus', () => {
  let world: World
  let program: Example
  beforeAll(async () => {
    world = await startWorld(['valid-minimal', ...cases.map(({ name }) => name)])
    program = startExample(python ?? '', 1)
  })
  afterAll(async () => {
    await program?.stop()
    await world?.stop()
  })

  function caseOf(name: string): CorpusCase {
    const found = world.cases.find((one) => one.case === name)
    if (!found) throw new Error(`no case ${name}`)
    return found
  }

  const cases = casesOfRun(CAN_ASK.python)
  const named = (malformed: boolean) =>
    cases.filter(({ expected }) => 'error' in expected === malformed).map(({ name }) => name)

  test.each(named(false))('%s', async (name) => {
    const one = caseOf(name)
    const { code, output } = await program.run(one)
    const { asOf, domain, ...verdict } = JSON.parse(output)
    expect(one.expected).toMatchObject({ status: verdict.status })
    // Compares all checks, including passed ones, in order.
    expect({ ...verdict, domain }).toEqual(await libraryOn(one))
    const isRead = verdict.checks.some(({ check }: Check) => check === 'record')
    expect(asOf !== null).toBe(isRead)
    expect(code).toBe(EXIT_CODES[verdict.status] ?? 1)
  })

  test.each(named(true))('%s', async (name) => {
    const one = caseOf(name)
    const { code, output, errors } = await program.run(one)
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toContain('or the publicId, presentation or credential is malformed')
    // One mistyped character away from the key.
    if (!one.presentation && !one.credential) expect(errors).not.toContain(publicIdOf(one))
  })

  test('the command reads the publicId from standard input, prints the verdict and nothing else', async () => {
    const one = caseOf('valid-minimal')
    const args = [...argumentsFor(one).slice(0, -1), '-']
    const running = promisify(execFile)(python ?? '', [EXAMPLE, ...args])
    running.child.stdin?.end(`${publicIdOf(one)}\n`)
    const { stdout, stderr } = await running
    expect(JSON.parse(stdout)).toMatchObject(await libraryOn(one))
    expect(stderr).toBe('')
  })
})

// 210 of them verified documents alone. Presentations and disclosures take 45, credentials 55, the
// issuer's domain 40, and strict JSON, which all need, with the forms of what is read the rest.
test('the example has under 370 lines', () => {
  const lines = readFileSync(EXAMPLE, 'utf8').trimEnd().split('\n')
  expect(lines.length).toBeLessThan(370)
})

test.skipIf(python === undefined)(
  'agrees on the vectors and on edge cases of the format',
  async () => {
    const { stdout } = await promisify(execFile)(python ?? '', [
      pathOf('vectors.py'),
      EXAMPLES,
      pathOf('../../../tools/corpus/vectors'),
    ])
    expect(JSON.parse(stdout)).toEqual({
      codes: mustFail.cases
        .filter(
          ({ format, name }) => READ.includes(format) && !(format === 'json' && name === 'nothing'),
        )
        .map(({ code }) => coarse(code)),
      golden: golden.documents.map(({ documentHash, documentKey, document }) => ({
        documentHash,
        documentKey,
        document,
      })),
      presented: presentations.cases.map(({ disclosed }) => [disclosed, null]),
      notPresented: presentations.mustFail
        .filter(({ text }) => text !== undefined)
        .map(({ code }) => [null, coarse(code)]),
      astray: [],
    })
  },
)
