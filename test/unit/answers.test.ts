import { describe, expect, test } from 'vitest'
import { fromHex, type Hex } from '../../document/hex.ts'
import { verifyBundle } from '../../verifier/bundle.ts'
import { RpcResponseError } from '../../verifier/errors.ts'
import {
  type ChainReading,
  type DocumentKey,
  type Eip1193Provider,
  REGISTRY_STATUSES,
} from '../../verifier/ports.ts'
import { createChainReader } from '../../verifier/readers/chain.ts'
import { createQuorumReader } from '../../verifier/readers/quorum.ts'
import { encodeVerificationCall } from '../../verifier/readers/verification-codec.ts'
import bundles from '../vectors/bundles.json' with { type: 'json' }
import quorums from '../vectors/quorums.json' with { type: 'json' }
import verifications from '../vectors/verifications.json' with { type: 'json' }

type Key = {
  issuerId: number
  documentHash: string
  batch: { root: string; validUntil: number; proof: string[] } | null
}

function keyOf({ issuerId, documentHash, batch }: Key): DocumentKey {
  const alone = { issuerId, documentHash: documentHash as Hex }
  if (!batch) return alone
  const proof = fromHex(
    `0x${batch.proof.map((sibling) => sibling.slice(2)).join('')}`,
  )
  const { root, validUntil } = batch
  return { ...alone, batch: { root: root as Hex, validUntil, proof } }
}

const NOBODY = {
  account: `0x${'00'.repeat(20)}`,
  ...{ accountIndex: 0, permissions: 0, addedBlock: 0, changedBlock: 0 },
  ...{ retiredBlock: 0, distrustedFrom: 0 },
}

/** @returns A reading in the shape of the ABI. */
function shapeOf({ status, revoker, issuer, ...rest }: ChainReading) {
  const { id: _, ...registered } = issuer
  return {
    ...rest,
    chainId: 31337,
    status: REGISTRY_STATUSES.indexOf(status),
    revoker: revoker ?? NOBODY,
    issuer: registered,
  }
}

const answering = (answer: unknown): Eip1193Provider => ({
  request: async () => answer,
})
const at = (block: number | null) => (block === null ? {} : { block })

describe('the bytes of an answer', () => {
  test.each(verifications.cases)('default: reads $name', async (one) => {
    expect(encodeVerificationCall(keyOf(one))).toBe(one.data)
    const reader = createChainReader(
      answering(one.answer),
      verifications.registry,
    )
    const reading = await reader.read(keyOf(one), at(one.block))
    expect(shapeOf(reading)).toEqual(one.reading)
    expect(reading.issuer.id).toBe(one.issuerId)
  })

  test.each(verifications.mustFail)('error: refuses $name', async (one) => {
    const reader = createChainReader(
      answering(one.answer),
      verifications.registry,
    )
    await expect(
      reader.read(keyOf(one as Key), at(one.block)),
    ).rejects.toMatchObject({ code: one.code })
  })

  test('default: every status is among them', () => {
    const statuses = verifications.cases.map(({ reading }) => reading.status)
    expect(new Set(statuses)).toEqual(new Set(REGISTRY_STATUSES.keys()))
  })
})

type Trust = { registry: string; trustedBlocks: string[]; codeHash: string }
const trusting = ({ registry, trustedBlocks, codeHash }: Trust) => ({
  registry,
  trustedBlocks: trustedBlocks as Hex[],
  codeHash: codeHash as Hex,
})

async function verdictOf(text: string, trust: Trust) {
  const verdict = await verifyBundle(text, trusting(trust))
  const { status, checks, document = null, asOf } = verdict
  const notPassed = checks
    .filter(({ outcome }) => outcome !== 'pass')
    .map(({ check, outcome, code }) => `${check} ${outcome} ${code}`)
  return { status, notPassed, document, asOf }
}

type Change = { at: (string | number)[]; value?: unknown }

/** @returns The bundle with other members; a change without a value removes its member. */
function changed(bundle: object, changes: readonly Change[]): object {
  const copy = structuredClone(bundle)
  for (const { at, value } of changes) {
    const [member, ...way] = at.toReversed()
    const parent = way
      .toReversed()
      .reduce<Record<string, never>>(
        (part, name) => part[name] ?? {},
        copy as Record<string, never>,
      ) as Record<string, unknown>
    if (value === undefined) delete parent[String(member)]
    else parent[String(member)] = value
  }
  return copy
}

describe('bundles', () => {
  test.each(bundles.cases)('default: verifies $name', async (one) => {
    expect(await verdictOf(JSON.stringify(one.bundle), one)).toEqual(
      one.expected,
    )
  })

  test.each(bundles.mustFail)('error: $name', async (one) => {
    const base = bundles.cases.find(({ name }) => name === one.of)
    const bundle = changed(base?.bundle ?? {}, (one.changes ?? []) as Change[])
    const verdict = verdictOf(one.text ?? JSON.stringify(bundle), {
      ...base,
      ...one,
    } as unknown as Trust)
    const { error, ...expected } = one.expected as { error?: string }
    if (error) await expect(verdict).rejects.toMatchObject({ code: error })
    else {
      const { status, notPassed } = await verdict
      expect({ status, notPassed }).toEqual(expected)
    }
  })
})

type Node = { latest: string; blocks?: Record<string, string> } | null

/** @returns A node with its newest block and those listed; the state of all others is gone. */
function providerOf(node: Node): Eip1193Provider {
  return {
    async request({ params = [] }) {
      if (node === null) throw new Error('down')
      const block = String((params as unknown[])[1])
      const answer =
        block === 'latest' ? node.latest : node.blocks?.[Number(block)]
      if (answer === undefined)
        throw new RpcResponseError(-32000, 'missing trie node', undefined)
      return answer
    },
  }
}

describe('several nodes', () => {
  test.each(quorums.cases)('default: $name', async (one) => {
    const readers = (one.nodes as Node[]).map((node) =>
      createChainReader(providerOf(node), quorums.registry),
    )
    const reading = createQuorumReader(readers, one.quorum).read(
      keyOf(one),
      at(one.block),
    )
    const { code, reading: expected } = one.expected as {
      code?: string
      reading?: object
    }
    if (code) await expect(reading).rejects.toMatchObject({ code })
    else expect(shapeOf(await reading)).toEqual(expected)
  })
})
