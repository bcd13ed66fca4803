import batches from '#corpus/vectors/batches.json' with { type: 'json' }
import bundles from '#corpus/vectors/bundles.json' with { type: 'json' }
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import mustFail from '#corpus/vectors/must-fail.json' with { type: 'json' }
import presentations from '#corpus/vectors/presentations.json' with { type: 'json' }
import quorums from '#corpus/vectors/quorums.json' with { type: 'json' }
import proofs from '#corpus/vectors/state-proofs.json' with { type: 'json' }
import tries from '#corpus/vectors/tries.json' with { type: 'json' }
import verifications from '#corpus/vectors/verifications.json' with { type: 'json' }
import { type AnswerVectors, countOf } from './answer-vectors.ts'
import type { Vectors } from './vector-runner.ts'

export const VECTORS: Vectors = {
  golden: golden.documents,
  batches: batches.batches,
  mustFail: mustFail.cases,
  tries: tries.cases,
  proofs: proofs.cases as Vectors['proofs'],
  presentations,
  answers: { verifications, bundles, quorums } as unknown as AnswerVectors,
}

/** The number of comparisons. */
export const VECTOR_COUNT =
  2 * VECTORS.golden.length +
  VECTORS.batches.reduce((sum, { documents }) => sum + 1 + documents.length, 0) +
  VECTORS.mustFail.length +
  VECTORS.tries.length +
  VECTORS.proofs.length +
  VECTORS.presentations.cases.reduce((sum, { link }) => sum + (link ? 3 : 2), 0) +
  VECTORS.presentations.mustFail.length +
  countOf(VECTORS.answers)
