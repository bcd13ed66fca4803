import { copyFile } from 'node:fs/promises'
import { generationsIn, journalPath, makeDir, statePath } from './generations.ts'

/**
 * Copies the chain's states and journals. Nothing may write to them meanwhile: the chain is stopped and
 * its folder locked, or its one writer does this.
 *
 * @param to A folder; made if it is missing.
 */
export const copyChain = async (from: string, to: string): Promise<void> => {
  await makeDir(to)
  const { journals, states } = await generationsIn(from)
  for (const generation of states)
    await copyFile(statePath(from, generation), statePath(to, generation))
  for (const generation of journals)
    await copyFile(journalPath(from, generation), journalPath(to, generation))
}
