import { expect, test } from 'vitest'
import bundles from '#corpus/vectors/bundles.json' with { type: 'json' }
import quorums from '#corpus/vectors/quorums.json' with { type: 'json' }
import verifications from '#corpus/vectors/verifications.json' with { type: 'json' }
import { REGISTRY_STATUSES } from '#verifier/ports.ts'
import {
  type AnswerVectors,
  countOf,
  type Outcome,
  outcomesOf,
} from '../../support/answer-vectors.ts'

const vectors = { verifications, bundles, quorums } as unknown as AnswerVectors
const outcomes: Outcome[] = []
for await (const outcome of outcomesOf(vectors)) outcomes.push(outcome)

test.each(outcomes)('$name', ({ got, expected }) => {
  expect(got).toEqual(expected)
})

test('the vectors cover answers, bundles, several nodes and every status', () => {
  expect(outcomes).toHaveLength(countOf(vectors))
  const statuses = verifications.cases.map(({ reading }) => reading.status)
  expect(new Set(statuses)).toEqual(new Set(REGISTRY_STATUSES.keys()))
})
