import { readFileSync } from 'node:fs'
import { type Fragment, Interface } from 'ethers'
import { expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'

const artifact = '../../../../artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json'
const compiled = new Interface(
  JSON.parse(readFileSync(new URL(artifact, import.meta.url), 'utf8')).abi,
)
const isCalled = ({ type }: Fragment) => type !== 'constructor'
/** Names, indexed arguments and mutability too. */
const textOf = (fragment: Fragment) => fragment.format('full')

test("the fragments are those of the compiler's ABI, all but the constructor", () => {
  const expected = compiled.fragments.filter(isCalled).map(textOf)
  expect(expected.length).toBeGreaterThan(100)
  expect(registryAbi.fragments.filter(isCalled).map(textOf).sort()).toEqual(expected.sort())
})
