import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { InputError } from '../errors.ts'
import { readAll } from '../files.ts'
import type { readBuild } from './build.ts'

/** What a check compares with. */
export type Release = Pick<Awaited<ReturnType<typeof readBuild>>, 'input' | 'forwarder'> & {
  artifact: Pick<
    Awaited<ReturnType<typeof readBuild>>['artifact'],
    'abi' | 'bytecode' | 'deployedBytecode' | 'immutableReferences'
  >
}

/**
 * @param folder The folder that `npm run release` makes.
 * @returns The registry of a release.
 * @throws {InputError} `unreadable` for a file that SHA256SUMS does not name with its sum.
 */
export async function readRelease(folder: string): Promise<Release> {
  const text = async (name: string) => Buffer.from(await readAll(join(folder, name))).toString()
  const sums = (await text('SHA256SUMS')).split('\n')
  const readJson = async (name: string) => {
    const content = await text(name)
    const sum = createHash('sha256').update(content).digest('hex')
    if (!sums.includes(`${sum}  ${name}`))
      throw new InputError('unreadable', `${join(folder, name)} does not match SHA256SUMS`)
    return JSON.parse(content)
  }
  const { forwarder, ...code } = await readJson('DocumentRegistry.json')
  const abi = await readJson('DocumentRegistry.abi.json')
  return {
    artifact: { abi, ...code },
    input: await readJson('DocumentRegistry.input.json'),
    forwarder,
  }
}
