import { keccak256 } from 'ethers'
import { isContract } from '#cli/registry/deployment.ts'
import type { Hex } from '#document/hex.ts'
import type { Config } from '#settings/config.ts'
import { createFinalityReader } from '#verifier/readers/finality.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createRequest, readStrictly } from '#verifier/readers/request.ts'
import { readHex, readObject, readQuantity } from '#verifier/readers/rpc-codec.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'
import { checkProofs } from './proofs.ts'

/** The tolerance for the clock, and for the distance between endpoints. */
const [MAX_SKEW_SECONDS, MAX_BLOCKS_APART] = [15, 10]

/** A registry on a chain, with its code hash if `deployments/` has it, or why none is known. */
export type RegistryOn =
  | { address: Hex; codeHash?: string }
  | { address?: undefined; problem: string }

type Endpoint = { name: string; chainId: number; head: number; headTime: number; code: Hex }

/** Asks every endpoint on its own. @returns The findings, and the chain if all agree on it. */
export async function checkEndpoints(
  config: Config,
  registryOn: (chainId: number) => RegistryOn,
): Promise<{ findings: Finding[]; chainId?: number }> {
  const findings: Finding[] = []
  const answers: Endpoint[] = []
  for (const [i, url] of config.rpcUrls.entries()) {
    // Only the host is shown, because the path or query of an address often contains a key.
    const name = `endpoint ${i + 1} (${new URL(url).host})`
    try {
      answers.push(await askEndpoint(name, url, config, registryOn, findings))
    } catch (error) {
      findings.push(
        fail(
          'endpoints',
          `${name} does not answer: ${reasonOf(error)}`,
          'check RPC_URL and network',
        ),
      )
    }
  }
  const chains = [...new Set(answers.map(({ chainId }) => chainId))]
  const [chainId] = chains
  if (chainId === undefined) return { findings }
  if (chains.length > 1) {
    const all = answers.map((one) => `${one.name}: ${one.chainId}`).join(', ')
    findings.push(
      fail(
        'chain',
        `the endpoints are on different chains (${all})`,
        'keep only those of one chain',
      ),
    )
    return { findings }
  }
  findings.push(ok('chain', `chain ${chainId}`))
  return {
    findings: [
      ...findings,
      ...compared(answers, config.maxHeadAge),
      ...checkCode(answers, registryOn),
    ],
    chainId,
  }
}

async function askEndpoint(
  name: string,
  url: string,
  { rpcTimeout, finality }: Config,
  registryOn: (chainId: number) => RegistryOn,
  findings: Finding[],
): Promise<Endpoint> {
  const request = createRequest(createFetchProvider(url, rpcTimeout))
  const read = async <T>(method: string, params: unknown[], decode: (answer: unknown) => T) => {
    const answer = await request(method, params)
    return readStrictly(method, () => decode(answer))
  }
  const chainId = await read('eth_chainId', [], readQuantity)
  const block = await read('eth_getBlockByNumber', ['latest', false], readObject)
  const [head, headTime] = [readQuantity(block.number), readQuantity(block.timestamp)]
  const address = registryOn(chainId).address
  const code = address ? await read('eth_getCode', [address, 'latest'], readHex) : '0x'
  findings.push(ok('endpoints', `${name} answers: block ${head}`))
  let final: number | undefined
  try {
    final = await createFinalityReader(request, finality).finalizedBlock()
  } catch (error) {
    findings.push(
      warn(
        'finality',
        `${name} does not say which block is final: ${reasonOf(error)}`,
        'set FINALITY_DEPTH; otherwise documents stay in the outbox',
      ),
    )
  }
  if (block.baseFeePerGas === undefined)
    findings.push(
      fail('fees', `${name}: blocks have no baseFeePerGas`, 'enable the London fork of the chain'),
    )
  if (address) findings.push(await checkProofs(name, request, { address, head, final }))
  return { name, chainId, head, headTime, code }
}

function compared(answers: readonly Endpoint[], maxAge: number | undefined): Finding[] {
  const heads = answers.map(({ head }) => head)
  const now = Date.now() / 1000
  const newest = Math.max(...answers.map(({ headTime }) => headTime))
  const ahead = newest - now
  const late = answers.filter(({ head }) => Math.max(...heads) - head > MAX_BLOCKS_APART)
  return [
    ...(late.length === 0
      ? []
      : [
          warn(
            'endpoints',
            `${late.map(({ name }) => name).join(', ')}: more than ${MAX_BLOCKS_APART} blocks behind`,
            'replace it if it stays behind',
          ),
        ]),
    ahead > MAX_SKEW_SECONDS
      ? fail(
          'clock',
          `this machine's clock is at least ${Math.round(ahead)} s behind the chain`,
          'synchronize it (NTP), because it decides when documents expire',
        )
      : ok('clock', 'the clock is not behind the chain'),
    maxAge !== undefined && -ahead > maxAge
      ? fail(
          'head',
          `the newest block is ${Math.round(-ahead)} s old`,
          'use another node, or wait until this one is synchronized',
        )
      : ok('head', `the newest block is ${Math.max(0, Math.round(-ahead))} s old`),
  ]
}

function checkCode(
  answers: readonly Endpoint[],
  registryOn: (chainId: number) => RegistryOn,
): Finding[] {
  const registry = registryOn(answers[0]?.chainId ?? 0)
  if (!registry.address) return [fail('registry', registry.problem, 'set REGISTRY_ADDRESS')]
  return answers.map(({ name, code }) => {
    const at = `${registry.address} at ${name}`
    if (!isContract(code))
      return fail(
        'registry',
        `there is no contract at ${at}`,
        'check REGISTRY_ADDRESS and the chain',
      )
    if (registry.codeHash === undefined)
      return warn(
        'registry',
        `the code at ${at} cannot be compared: deployments/ has no record of it`,
        'record it with docreg registry deploy --adopt',
      )
    return keccak256(code) === registry.codeHash
      ? ok('registry', `the code at ${at} matches deployments/`)
      : fail('registry', `the code at ${at} does not match deployments/`, 'check REGISTRY_ADDRESS')
  })
}
