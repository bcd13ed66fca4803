import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parseRegistry } from '../verifier/readers/chain.ts'
import { UsageError } from './errors.ts'

/** What came with this program: one file a chain, as the deploy command writes them. */
const DEPLOYMENTS = new URL('../deployments/', import.meta.url)

/**
 * The registry to trust. It never comes from a document, an address or a QR code.
 *
 * @param given CAIP-10 (`eip155:<chainId>:<address>`); a chain (`eip155:<chainId>`), whose registry is in `deployments/`;
 * `undefined` when there is only one deployment to trust.
 * @returns CAIP-10, lower case.
 * @throws {UsageError} when it names none.
 */
export function trustedRegistry(given: string | undefined): string {
  const text = given?.toLowerCase() ?? onlyChain()
  const chain = /^eip155:([1-9][0-9]*)$/.exec(text)
  const registry = chain ? deployed(Number(chain[1])) : text
  try {
    parseRegistry(registry)
    return registry
  } catch {
    throw new UsageError(
      '--registry must be eip155:<chainId>:<address>, or eip155:<chainId> of a known deployment',
    )
  }
}

function onlyChain(): string {
  const chains = existsSync(DEPLOYMENTS)
    ? readdirSync(DEPLOYMENTS).filter((name) =>
        /^[1-9][0-9]*\.json$/.test(name),
      )
    : []
  const [chain] = chains
  if (chain === undefined || chains.length > 1)
    throw new UsageError(
      '--registry is required: the registry that you trust, eip155:<chainId>:<address>. Ask the issuer, not the document',
    )
  return `eip155:${chain.replace('.json', '')}`
}

function deployed(chainId: number): string {
  const file = new URL(`${chainId}.json`, DEPLOYMENTS)
  if (!existsSync(file))
    throw new UsageError(
      `--registry: no deployment on chain ${chainId} is known; name its address, eip155:${chainId}:<address>`,
    )
  const { address } = JSON.parse(readFileSync(file, 'utf8'))
  return `eip155:${chainId}:${String(address).toLowerCase()}`
}
