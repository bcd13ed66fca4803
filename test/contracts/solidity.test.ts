import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * A list of its own of what is compiled: other tests build meanwhile, and Hardhat replaces the list
 * as a whole. @returns Its folder.
 */
function ownCache(): string {
  const read = (path: string) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {})
  const folder = join(root, 'cache/solidity')
  const [own, common] = [folder, join(root, 'cache')].map((one) => join(one, 'compile-cache.json'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(own ?? '', JSON.stringify({ ...read(own ?? ''), ...read(common ?? '') }))
  return folder
}

// Beside the other tests, which wait more than they compute: alone it would keep a core idle.
test('the tests in Solidity pass', async () => {
  const child = spawn('hardhat', ['test', 'solidity'], {
    cwd: root,
    // biome-ignore lint/style/noProcessEnv: where the programs are, and one setting more.
    env: { ...process.env, HARDHAT_CACHE: ownCache() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  expect(code, output + errors).toBe(0)
  // Not none of them.
  expect(Number(/(\d+) passing/.exec(output)?.[1])).toBeGreaterThan(300)
}, 1_200_000)
