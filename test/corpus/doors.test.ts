import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FormatError } from '../../document/errors.ts'
import { createChainReader } from '../../verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '../../verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '../../verifier/readers/json-rpc.ts'
import { verify } from '../../verifier/verify.ts'
import { readCases } from '../support/corpus/case.ts'
import {
  type CorpusCase,
  startWorld,
  type World,
} from '../support/corpus/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.stop())

const names = readCases().map(({ name }) => name)
function caseOf(name: string): CorpusCase {
  const found = world.cases.find((one) => one.case === name)
  if (!found) throw new Error(`no case ${name}`)
  return found
}

type Check = { check: string; outcome: string; code: string }
/** What every door is compared by. */
const notPassed = (checks: Check[]) =>
  checks
    .filter(({ outcome }) => outcome !== 'pass')
    .map(({ check, outcome, code }) => `${check} ${outcome} ${code}`)
    .sort()

describe('library', () => {
  test.each(names)('%s', async (name) => {
    const one = caseOf(name)
    const publicId = one.given.match(/publicId=([^&]*)/)?.[1] ?? one.given
    const timeout = one.timeout * 1000
    const [rpc = ''] = one.rpc
    const answer = await verify(publicId, {
      chain: createChainReader(createFetchProvider(rpc, timeout), one.registry),
      blocks: one.ipfs.map((url) => createIpfsGatewaySource(url, timeout)),
      maxHeadAge: one.maxHeadAge,
      ...(one.asOf !== null && { asOf: one.asOf }),
    }).then(
      ({ status, checks, document }) => ({
        status,
        notPassed: notPassed(checks),
        document: document !== null,
      }),
      (error) => {
        if (!(error instanceof FormatError)) throw error
        return { error: error.code }
      },
    )
    const { expected } = one
    expect(answer).toEqual(
      'error' in expected
        ? expected
        : {
            status: expected.status,
            notPassed: expected.notPassed.toSorted(),
            document: expected.document,
          },
    )
  })
})
