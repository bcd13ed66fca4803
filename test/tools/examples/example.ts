import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publicIdOf } from '../../support/corpus/judge.ts'
import type { CorpusCase } from '../../support/corpus/world.ts'
import { startLinePrograms } from '../../support/line-programs.ts'
import { EXAMPLES } from './python.ts'

/** The verifier in Python. */
export const EXAMPLE = join(EXAMPLES, 'verify.py')
const EACH = fileURLToPath(new URL('each.py', import.meta.url))

type Call = { args: string[]; domain: CorpusCase['domain'] | null }
type Run = { code: number; output: string; errors: string }

export type Example = { run(one: CorpusCase): Promise<Run>; stop(): Promise<void> }

/** Runs cases in a few Python processes, since its imports take longer than most cases. */
export function startExample(python: string, processes: number): Example {
  const programs = startLinePrograms<Call, Run>(python, [EACH, EXAMPLE], processes)
  return {
    run: (one) => programs.run({ args: argumentsFor(one), domain: one.domain ?? null }),
    stop: programs.stop,
  }
}

export function argumentsFor(one: CorpusCase): string[] {
  const [rpc = ''] = one.rpc
  return [
    '--rpc',
    rpc,
    '--registry',
    one.registry,
    ...one.ipfs.flatMap((url) => ['--ipfs', url]),
    '--max-head-age',
    `${one.maxHeadAge}`,
    '--timeout',
    `${one.timeout}`,
    ...(one.domain ? [] : ['--no-identity']),
    ...(one.issuerDomain ? ['--issuer-domain', one.issuerDomain] : []),
    '--',
    one.presentation ? one.given : publicIdOf(one),
  ]
}
