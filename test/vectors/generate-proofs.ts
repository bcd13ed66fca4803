// Makes state-proofs.json: state proofs as real nodes give them, with the reading that the node's own `eth_call` gives.
// node test/vectors/generate-proofs.ts && biome check --write test/vectors
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import { ensureRegistry } from '../../scripts/local-registry.ts'
import { decodeHeader } from '../../verifier/proof/header.ts'
import { createChainReader } from '../../verifier/readers/chain.ts'
import { createFetchProvider } from '../../verifier/readers/json-rpc.ts'
import { fetchProof } from '../../verifier/readers/proof.ts'
import { startAnvilNode } from '../support/anvil.ts'
import { gethBinary, startGethNode } from '../support/geth.ts'
import { patient } from '../support/patient.ts'
import { transact } from '../support/transact.ts'

const ADMIN: Hex = `0x${'a1'.repeat(32)}`
const ISSUER: Hex = `0x${'b2'.repeat(32)}`
const STOLEN: Hex = `0x${'c3'.repeat(32)}`
/** Documents 1 to 5 get a status each; 6 is never issued. */
const hash = (byte: number): Hex =>
  `0x${byte.toString(16).padStart(2, '0').repeat(32)}`

async function proofsOf(
  url: string,
  origin: string,
  fund: (account: string) => Promise<void>,
) {
  const provider = patient(createFetchProvider(url))
  for (const key of [ADMIN, ISSUER, STOLEN]) await fund(new Wallet(key).address)
  const registry = await ensureRegistry(provider, ADMIN, {
    account: new Wallet(ISSUER).address,
    // Longer than a slot.
    name: 'Ämter und Behörden der Stadt Teststadt',
    uri: 'https://example.org',
  })
  const send = (name: string, args: unknown[], key = ISSUER) =>
    transact(provider, registry, key, name, args)
  const many = Array.from(
    { length: 40 },
    (_, i) => hash(1).slice(0, -4) + (0x1000 + i).toString(16),
  )
  await send('issueMany', [many, many.map(() => 0)])
  await send('issue', [hash(1), 4_000_000_000])
  await send('issue', [hash(2), 0])
  await send('revoke', [hash(2), 1])
  await send('issue', [hash(3), 0])
  await send('supersede', [hash(3), hash(4), 1_000_000_000])
  const stolen = new Wallet(STOLEN).address
  await send('addAccount', [1, stolen], ADMIN)
  await send('issue', [hash(5), 0], STOLEN)
  await send('distrustFrom', [stolen, 1], ADMIN)
  await send(
    'registerIssuer',
    [`0x${'d4'.repeat(20)}`, 'N'.repeat(31), ''],
    ADMIN,
  )
  const block = await provider.request({
    method: 'eth_getBlockByNumber',
    params: ['latest', false],
  })
  const cases = []
  for (let byte = 1; byte <= 6; byte++) {
    const documentHash = hash(byte)
    const stateProof = await fetchProof(provider, registry, documentHash)
    const { blockNumber } = decodeHeader(stateProof.header)
    const reading = await createChainReader(provider, registry).read(
      documentHash,
      { block: blockNumber },
    )
    const { hash: blockHash } = (await provider.request({
      method: 'eth_getBlockByNumber',
      params: [`0x${blockNumber.toString(16)}`, false],
    })) as { hash: Hex }
    const name = `${origin}: ${reading.status}`
    cases.push({
      name,
      registry,
      documentHash,
      blockHash,
      stateProof,
      reading,
    })
  }
  return { cases, block: { origin, ...(block as object) } }
}

const dir = mkdtempSync(join(tmpdir(), 'state-proofs-'))
const anvil = await startAnvilNode(dir)
const ofAnvil = await proofsOf(anvil.url, 'Anvil 1.7.1', async (account) => {
  await anvil.request('anvil_setBalance', account, '0x56bc75e2d63100000')
})
await anvil.kill()
const binary = await gethBinary()
if (binary === undefined) throw new Error('geth is needed')
const geth = await startGethNode(binary, dir)
const ofGeth = await proofsOf(geth.url, 'geth 1.16.7 --dev', geth.fund)
await geth.kill()
rmSync(dir, { recursive: true, force: true })
writeFileSync(
  new URL('state-proofs.json', import.meta.url),
  JSON.stringify({
    origin:
      'eth_getProof, eth_getBlockByNumber and eth_call of the nodes named, by generate-proofs.ts',
    cases: [...ofAnvil.cases, ...ofGeth.cases],
    blocks: [ofAnvil.block, ofGeth.block],
  }),
)
