/**
 * Tries one mutant after the other, in a process of its own: the compiler blocks its thread, and
 * Hardhat prints a report of every run.
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
  /** Without one, the question is whether all is well without any. */
  readonly mutant?: Mutant
  /** Of an equivalent mutant: only the quick tests, since the slow ones can find nothing either. */
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
