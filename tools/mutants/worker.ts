/**
 * Tries mutants one by one in a separate process: the compiler blocks its thread, and Hardhat
 * prints a report of every run.
 */
import type { Mutant } from './mutations.ts'
import { openSuite } from './suite.ts'

export type Verdict =
  | { readonly kind: 'killed'; readonly by: string }
  | { readonly kind: 'does not compile' }
  | { readonly kind: 'survived' }

const [built = '', folder = ''] = process.argv.slice(2)
const suite = await openSuite(built, folder)

export interface Request {
  /** Absent = check that the unchanged registry passes. */
  readonly mutant?: Mutant
  /** For an equivalent mutant, only the quick tests run, because no test can kill it. */
  readonly isQuick?: boolean
}

async function judge({ file, source }: Mutant, isQuick = false): Promise<Verdict> {
  if (!suite.deploy({ [file]: source })) return { kind: 'does not compile' }
  const by = await suite.firstFailure(isQuick ? 1 : undefined)
  return by === undefined ? { kind: 'survived' } : { kind: 'killed', by }
}

process.on('message', async ({ mutant, isQuick }: Request) => {
  if (mutant === undefined) await suite.check()
  process.send?.(mutant === undefined ? {} : await judge(mutant, isQuick))
})
