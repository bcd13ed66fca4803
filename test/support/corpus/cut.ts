import { majorityOf } from '#verifier/defaults.ts'
import { IS_LONG } from '../long.ts'
import { type Case, readCases } from './case.ts'

/** Doors that read files take no notice of white space at their end. */
const isTrimmed = ({ present }: Pick<Case, 'present'>) => present?.credential?.behind.trim() !== ''

/** The cases that a slow door can ask. */
export const CAN_ASK = {
  command: isTrimmed,
  /** It cannot ask as of a block, for a required domain, or with another quorum than its own. */
  page: ({ ask, nodes, ...one }) =>
    isTrimmed(one) &&
    ask.asOf === undefined &&
    ask.issuerDomain === undefined &&
    (ask.quorum ?? majorityOf(nodes.length)) === majorityOf(nodes.length),
  /**
   * It reads the newest block from one node after another, and accepts no presentations
   * (docs/integrate.md).
   */
  rest: ({ ask, nodes, present }) =>
    present === undefined &&
    ask.asOf === undefined &&
    ask.issuerDomain === undefined &&
    nodes.length === 1,
  /** It reads one node at its newest block. */
  python: ({ ask, nodes }) => ask.asOf === undefined && nodes.length === 1,
} satisfies Record<string, (one: Case) => boolean>

/** @returns The cases that a slow door runs: some of every kind, or all in `npm run test:long`. */
export function casesOfRun(canAsk: (one: Case) => boolean = () => true): Case[] {
  const cases = readCases().filter(canAsk)
  return IS_LONG ? cases : cutOf(cases)
}

/** @returns A few cases that together have every trait of all cases. They are always the same. */
export function cutOf(cases: readonly Case[]): Case[] {
  const missing = new Set(cases.flatMap(traitsOf))
  const countOf = (one: Case) => traitsOf(one).filter((trait) => missing.has(trait)).length
  const chosen = new Set<Case>()
  while (missing.size > 0) {
    const best = cases.reduce((a, b) => (countOf(b) > countOf(a) ? b : a))
    chosen.add(best)
    for (const trait of traitsOf(best)) missing.delete(trait)
  }
  return cases.filter((one) => chosen.has(one))
}

/** @returns What is expected of a case, with each status and code separately, and its parts. */
function traitsOf({ name, title, why, expected, ...parts }: Case): string[] {
  const made = { ...parts, batchSources: parts.batch?.sources }
  const traits = [
    ...Object.entries(expected).flatMap(([key, value]) =>
      typeof value === 'object' ? namesOf(value) : [`${key} ${value}`],
    ),
    ...Object.entries(made).flatMap(([part, kinds = []]) =>
      [kinds]
        .flat()
        .flatMap(namesOf)
        .map((kind) => `${part} ${kind}`),
    ),
  ]
  return [...new Set(traits)]
}

const namesOf = (kind: string | object) =>
  typeof kind === 'string' ? [kind] : Array.isArray(kind) ? kind : Object.keys(kind)
