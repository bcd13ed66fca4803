import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * docs/contract.md names the test behind each statement about who cannot do what: each must exist.
 */
const at = (path: string): URL => new URL(`../../${path}`, import.meta.url)
const read = (path: string): string => readFileSync(at(path), 'utf8')
const manual = read('docs/contract.md')

/** `Contract.function` of every test. */
function testsOf(directory: string): Set<string> {
  const names = new Set<string>()
  for (const file of readdirSync(at(directory))) {
    if (!file.endsWith('.sol')) continue
    let contract = ''
    for (const [, name, test] of read(`${directory}/${file}`).matchAll(
      /^contract (\w+)|^ {4}function ((?:test|invariant|check)\w*)\(/gm,
    )) {
      if (name !== undefined) contract = name
      else names.add(`${contract}.${test}`)
    }
  }
  return names
}

test('every test that the manual names exists', () => {
  const tests = testsOf('test/contracts')
  const named = [...manual.matchAll(/`(\w+Test\.\w+)`/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter((name) => !tests.has(name))).toEqual([])
})

test('every proof that the manual names exists', () => {
  const proofs = read('tools/prove/Registry.prove.sol')
  const named = [...manual.matchAll(/check_(\w+)/g)].map(([name]) => name)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !proofs.includes(`${name}(`))).toEqual([])
})

test('the manual lists every event, with its topics', () => {
  const { abi } = JSON.parse(
    read('artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json'),
  ) as {
    abi: {
      type: string
      name: string
      inputs: { name: string; indexed: boolean }[]
    }[]
  }
  const rows = manual.split('\n').filter((line) => line.startsWith('| `'))
  for (const { type, name, inputs } of abi) {
    if (type !== 'event' || /^(DefaultAdmin|RoleAdmin)/.test(name)) continue
    const row = rows.find((line) => line.includes(`\`${name}\``)) ?? ''
    const [, , topics, data] = row.split('|').map((cell) => cell.trim())
    const list = (indexed: boolean): string =>
      inputs
        .filter((input) => input.indexed === indexed)
        .map((input) => input.name)
        .join(', ')
    expect({ name, topics, data }).toEqual({
      name,
      topics: list(true),
      data: list(false),
    })
  }
})
