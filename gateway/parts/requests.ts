import type { IssuingParts } from './issuing.ts'

/**
 * Notes when somebody asks for one document, because other work gives way to them.
 *
 * @returns `pipeline` is that for requests; `quietFor` is the time in milliseconds since the last.
 */
export function noteRequests(pipeline: IssuingParts): {
  pipeline: IssuingParts
  quietFor: () => number
} {
  let requestedAt = Number.NEGATIVE_INFINITY
  const noted =
    <A, R>(work: (request: A) => R) =>
    (request: A): R => {
      requestedAt = performance.now()
      return work(request)
    }
  return {
    pipeline: {
      ...pipeline,
      issuing: { issue: noted(pipeline.issuing.issue) },
      revising: { revise: noted(pipeline.revising.revise) },
      superseding: { supersede: noted(pipeline.superseding.supersede) },
    },
    quietFor: () => performance.now() - requestedAt,
  }
}
