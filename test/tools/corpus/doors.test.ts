import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeUtf8 } from '#document/bytes.ts'
import { fromHex } from '#document/hex.ts'
import { parsePresentation } from '#document/presentation.ts'
import { makePackages } from '#scripts/packages.ts'
import { createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import { keyOf, readPresentation, verifyPresentationProof } from '#verifier/presentation.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { readCases } from '../../support/corpus/case.ts'
import { CAN_ASK, casesOfRun, cutOf } from '../../support/corpus/cut.ts'
import {
  expectedOf,
  identityTold,
  libraryTells,
  libraryVerdict,
  notPassed,
  publicIdOf,
  type Told,
  told,
} from '../../support/corpus/judge.ts'
import { type CorpusCase, startWorld, type World } from '../../support/corpus/world.ts'
import type { Run } from '../../support/docreg.ts'
import { type LinePrograms, startLinePrograms } from '../../support/line-programs.ts'
import type { Call } from './each-command.ts'
import { type RestDoor, startRestDoor } from './rest.ts'

/** The packages, placed in the checkout so that they find the others. */
const PACKAGES = fileURLToPath(new URL('../../../dist/corpus/', import.meta.url))
const COMMAND = `${PACKAGES}docreg/apps/docreg/docreg.js`

const EACH_COMMAND = fileURLToPath(new URL('./each-command.ts', import.meta.url))

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

const cases = readCases()
const names = cases.map(({ name }) => name)
const restNames = casesOfRun(CAN_ASK.rest).map(({ name }) => name)

// A bundle, or the proof in a presentation, is made by an honest node that is there, of what can be
// read.
const provable = cases.filter(
  ({ nodes, expected }) =>
    nodes.every((node) => node === 'honest') &&
    'status' in expected &&
    !expected.notPassed.some((check) => /^(chain|batch unknown)/.test(check)),
)
const bundleNames = provable.filter(({ present }) => present === undefined).map(({ name }) => name)
// Offline, a proof of another registry than the chosen one is ignored.
const provenNames = provable
  .filter(
    ({ present, expected }) =>
      present && !present.credential && !('otherRegistryHinted' in expected),
  )
  .map(({ name }) => name)

function caseOf(name: string): CorpusCase {
  const found = world.cases.find((one) => one.case === name)
  if (!found) throw new Error(`no case ${name}`)
  return found
}

test('has far more bad cases than good ones', () => {
  const good = cases.filter(
    ({ expected }) =>
      'status' in expected &&
      expected.status === 'valid' &&
      (expected.identity ?? 'pass linked') === 'pass linked',
  )
  expect(cases.length).toBeGreaterThan(4 * good.length)
})

test('the subset of an ordinary run has every status and every code', () => {
  const cut = cutOf(cases)
  const told = (some: typeof cases) =>
    new Set(
      some.flatMap(({ expected }) =>
        'error' in expected ? [expected.error] : [expected.status, ...expected.notPassed],
      ),
    )
  expect(told(cut)).toEqual(told(cases))
})

test('at least 60 cases go through every program in an ordinary run', () => {
  const doors = Object.values(CAN_ASK).map((canAsk) => new Set(cutOf(cases.filter(canAsk))))
  const common = cases.filter((one) => doors.every((door) => door.has(one)))
  expect(common.length).toBeGreaterThanOrEqual(60)
})

describe.concurrent('library', () => {
  test.each(names)('%s', async (name) => {
    const one = caseOf(name)
    expect(await libraryTells(one)).toEqual(expectedOf(one))
  })

  test.each(names.filter((name) => caseIdentity(name)))('%s, by the domain', async (name) => {
    const { checks } = await libraryVerdict(caseOf(name))
    expect(identityTold(checks)).toBe(caseIdentity(name))
  })
})

/** @returns The expected result of the check `identity`, if the case has one. */
function caseIdentity(name: string): string | undefined {
  const { expected } = cases.find((one) => one.name === name) ?? {}
  return expected && 'status' in expected ? expected.identity : undefined
}

describe.concurrent('command', () => {
  let commands: LinePrograms<Call, Run>
  beforeAll(async () => {
    await makePackages(PACKAGES)
    rmSync(`${PACKAGES}node_modules`, { recursive: true, force: true })
    mkdirSync(`${PACKAGES}node_modules`)
    symlinkSync('../document-registry', `${PACKAGES}node_modules/document-registry`)
    commands = startLinePrograms(process.execPath, [EACH_COMMAND, COMMAND], 4)
  })
  afterAll(() => commands?.stop())

  test.each(casesOfRun(CAN_ASK.command).map(({ name }) => name))('%s', async (name) => {
    const one = caseOf(name)
    const { code, stdout, stderr } = await commands.run({
      args: argumentsFor(one),
      stdin: one.given,
      domain: one.domain,
    })
    const answer = JSON.parse(stdout)
    expect('error' in answer ? { error: answer.error.code } : told(answer)).toEqual(expectedOf(one))
    const identity = caseIdentity(name)
    if (identity) expect(identityTold(answer.checks)).toBe(identity)
    expect(stderr).toBe('')
    expect(code).toBe(exitCodeOf(one))
    const { expected } = one
    if ('status' in expected)
      expect(answer.warnings).toHaveLength(expected.otherRegistryHinted ? 1 : 0)
    // It is a decryption key.
    if (!one.presentation && !one.credential) expect(stdout).not.toContain(publicIdOf(one))
  })
})

function argumentsFor(one: CorpusCase): string[] {
  return [
    'verify',
    '-',
    '--json',
    '--registry',
    one.registry,
    ...one.rpc.flatMap((url) => ['--rpc', url]),
    ...one.ipfs.flatMap((url) => ['--ipfs', url]),
    '--timeout',
    String(one.timeout),
    '--max-head-age',
    String(one.maxHeadAge),
    ...(one.asOf === null ? [] : ['--as-of', String(one.asOf)]),
    ...(one.quorum === null ? [] : ['--quorum', String(one.quorum)]),
    ...(one.domain ? [] : ['--no-identity']),
    ...(one.issuerDomain ? ['--issuer-domain', one.issuerDomain] : []),
  ]
}

function exitCodeOf({ expected }: CorpusCase): number {
  if ('error' in expected || expected.status === 'unverifiable') return 2
  return expected.status === 'valid' ? 0 : 1
}

describe('bundle', () => {
  test.each(bundleNames)('%s', async (name) => {
    const one = caseOf(name)
    const { rpc, registry, ipfs, timeout, asOf } = one
    const making = createBundle(publicIdOf(one), {
      provider: createFetchProvider(rpc[0] ?? ''),
      registry,
      blocks: ipfs.map((url) => createIpfsGatewaySource(url, timeout * 1000)),
      ...(asOf !== null && { block: asOf }),
    })
    const { expected } = one
    // A file that is kept must not lack what a source may have.
    if (!('error' in expected) && expected.notPassed.includes('payload unknown unreachable')) {
      await expect(making).rejects.toMatchObject({ code: 'payload_unreachable' })
      return
    }
    const bundle = await making
    const { blockHash } = readBundle(bundle).block
    const verdict = await verifyBundle(JSON.stringify(bundle), {
      registry,
      trustedBlocks: [blockHash],
    })
    expect(told(verdict)).toEqual(expectedOffline(one))
    // The domain is not checked offline.
    if (verdict.checks.some(({ check }) => check === 'issuer'))
      expect(identityTold(verdict.checks)).toBe('unknown not_asked')
  })
})

/** A file does not say why the sealed document is missing, and does not prove an event. */
function expectedOffline(one: CorpusCase): Told {
  const expected = expectedOf(one)
  if ('error' in expected) throw new Error('no proof of what is malformed')
  const notPassed = expected.notPassed.map((check) =>
    check === 'payload unknown wrong_bytes' && one.presentation
      ? check
      : check.replace(/^payload .*/, 'payload unknown missing'),
  )
  const isIssued = !/^batch fail|^record fail/m.test(notPassed.join('\n'))
  if (isIssued) notPassed.push('event unknown unproven')
  return { ...expected, notPassed: notPassed.toSorted() }
}

describe('presentation with a proof', () => {
  test.each(provenNames)('%s', async (name) => {
    const one = caseOf(name)
    const { rpc, registry, ipfs, timeout, asOf } = one
    const presentation = parsePresentation(one.given)
    const key = keyOf(presentation)
    const reader = createProvingReader(createFetchProvider(rpc[0] ?? ''), registry)
    const { stateProof } = await reader.read(key, { block: asOf ?? undefined })
    const { bytes } = await readPayload(
      fromHex(key.documentHash),
      ipfs.map((url) => createIpfsGatewaySource(url, timeout * 1000)),
    )
    const file = {
      ...presentation,
      sealed: bytes ? decodeUtf8(bytes) : presentation.sealed,
      stateProof: stateProof ?? null,
    }
    const { block } = readPresentation(file)
    const verdict = await verifyPresentationProof(JSON.stringify(file), {
      registry,
      trustedBlocks: block ? [block.blockHash] : [],
    })
    expect(told(verdict)).toEqual(expectedOffline(one))
  })
})

describe('REST', () => {
  let rest: RestDoor
  beforeAll(async () => {
    rest = await startRestDoor(world)
  })
  afterAll(() => rest?.stop())

  test.each(restNames)('%s', async (name) => {
    const one = caseOf(name)
    const { status, body } = await rest.verify(one, publicIdOf(one))
    const { expected } = one
    if ('error' in expected) {
      expect({ status, code: body.error.code }).toEqual({
        status: 400,
        code: 'bad_public_id',
      })
      return
    }
    const { restStatus } = expected
    if (restStatus !== undefined) {
      expect(body.data).toMatchObject({ status: restStatus, document: null })
      return
    }
    if (expected.status === 'unverifiable') {
      expect({ status, code: body.error.code }).toEqual({
        status: 503,
        code: 'unverifiable',
      })
      expect(notPassed(body.error.details)).toEqual(expected.notPassed.toSorted())
      return
    }
    expect(status).toBe(200)
    expect(told(body.data)).toEqual(expectedOf(one))
    // The REST API always checks it.
    if (one.domain && expected.identity)
      expect(identityTold(body.data.checks)).toBe(expected.identity)
    expect(body.data.valid).toBe(expected.status === 'valid')
    // By now the gateway has cached the document.
    const again = await rest.verify(one, publicIdOf(one))
    expect(again.body.data.document).toEqual(body.data.document)
    expect(told(again.body.data)).toEqual(expectedOf(one))
  })
})
