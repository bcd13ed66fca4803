import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { AbiCoder, id, keccak256, toBeHex } from 'ethers'
import { expect, test } from 'vitest'
import { freshRegistry } from '#scripts/fresh-registry.ts'

/**
 * docs/contract.md, "Storage": what storage proofs rely on. The Solidity tests read the same
 * positions.
 */
const documented = {
  'struct DocumentRegistry.Storage': [
    ['namespaces', 0, 'mapping(uint32 => struct DocumentRegistry.Namespace)'],
    ['issuerCount', 1, 'uint32'],
    ['issuingFor', 2, 'mapping(address => uint256)'],
  ],
  'struct DocumentRegistry.Namespace': [
    ['state', 0, 'PackedState'],
    ['records', 1, 'mapping(bytes32 => struct DocumentRegistry.Slot)'],
    ['batches', 2, 'mapping(bytes32 => struct DocumentRegistry.Slot)'],
    ['accounts', 3, 'mapping(address => PackedAccount)'],
    ['accountsOf', 4, 'mapping(uint16 => PackedSigner)'],
    ['proposal', 5, 'PackedProposal'],
    ['name', 6, 'string'],
    ['uri', 7, 'string'],
  ],
  'struct DocumentRegistry.Slot': [['record', 0, 'PackedRecord']],
} as const
const base = 0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200n

interface Layout {
  readonly storage: readonly {
    readonly label: string
    readonly slot: string
    readonly offset: number
    readonly type: string
  }[]
  readonly types: Readonly<
    Record<
      string,
      {
        readonly label: string
        readonly members?: readonly {
          label: string
          slot: string
          offset: number
          type: string
        }[]
      }
    >
  >
}

/**
 * The compiler's layout of a contract whose one variable is the struct that the registry keeps at
 * its ERC-7201 position.
 */
function compiled(): Layout {
  const solc = createRequire(import.meta.url)('solc') as {
    compile(input: string, callbacks: { import(path: string): { contents: string } }): string
  }
  const read = (path: string): string =>
    readFileSync(
      new URL(
        path.startsWith('@') ? `../../node_modules/${path}` : `../../${path}`,
        import.meta.url,
      ),
      'utf8',
    )
  const content =
    'pragma solidity 0.8.37; import {DocumentRegistry} from "contracts/DocumentRegistry.sol"; contract Layout { DocumentRegistry.Storage s; }'
  const input = {
    language: 'Solidity',
    sources: { 'Layout.sol': { content } },
    settings: {
      outputSelection: { 'Layout.sol': { Layout: ['storageLayout'] } },
    },
  }
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (path) => ({ contents: read(path) }),
    }),
  ) as {
    contracts: { 'Layout.sol': { Layout: { storageLayout: Layout } } }
  }
  return output.contracts['Layout.sol'].Layout.storageLayout
}

test('the compiler lays the struct out as documented', () => {
  const { storage, types } = compiled()
  expect(types[storage[0]?.type ?? '']?.label).toBe('struct DocumentRegistry.Storage')
  for (const [name, rows] of Object.entries(documented)) {
    const struct = Object.values(types).find(({ label }) => label === name)
    expect(
      struct?.members?.map(({ label, slot, offset, type }) => [
        label,
        Number(slot),
        offset,
        types[type]?.label,
      ]),
    ).toEqual(rows.map(([label, slot, type]) => [label, slot, 0, type]))
  }
})

test('the struct stands at the ERC-7201 position of document-registry.storage', async () => {
  const preimage = AbiCoder.defaultAbiCoder().encode(
    ['uint256'],
    [BigInt(id('document-registry.storage')) - 1n],
  )
  expect((BigInt(keccak256(preimage)) >> 8n) << 8n).toBe(base)

  const { connection, provider, registry } = await freshRegistry()
  expect(await provider.getStorage(registry, toBeHex(base + 1n, 32))).toBe(toBeHex(1, 32))
  await connection.close()
})
