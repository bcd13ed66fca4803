import { IS_LONG } from '../long.ts'
import { type Case, readCases } from './case.ts'

/** @returns The cases that a costly door runs: some of every kind, in `npm run test:long` all. */
export function casesOfRun(canAsk: (one: Case) => boolean = () => true): Case[] {
  const cases = readCases().filter(canAsk)
  return IS_LONG ? cases : cutOf(cases)
}

/** @returns A few of the cases that have every trait that any of them has; always the same. */
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

/** @returns What is expected of a case, each status and code alone, and what it is made of. */
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
