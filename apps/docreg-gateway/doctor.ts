// Reports what is wrong with an installation and what to do. It changes nothing.
import { createLog } from '#base/log.ts'
import { DEPLOYMENTS, knownRegistries, onlyKnownRegistry } from '#cli/deployments.ts'
import { modulesOf } from '#modules/all.ts'
import { databaseOf } from '#parts/databases.ts'
import type { Module } from '#parts/module.ts'
import { openKubo } from '#parts/stores.ts'
import { type Config, ConfigError, readConfig } from '#settings/config.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import { LOCAL_CHAIN_ID } from '#verifier/defaults.ts'
import { checkAccount } from './doctor/account.ts'
import { checkEndpoints, type RegistryOn } from './doctor/endpoints.ts'
import { type Finding, fail, ok, reasonOf, warn } from './doctor/finding.ts'
import { checkFolder, checkNode } from './doctor/machine.ts'
import { remoteIdentity } from './identity.ts'

/** @returns The findings about each thing that a start needs. */
export async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const bad = error.message.split('\n').slice(1)
    return [
      checkNode(),
      ...bad.map((line) =>
        fail('settings', line.trim(), 'correct it; docs/operate.md lists the settings'),
      ),
    ]
  }
  return [
    checkNode(),
    ok('settings', 'every variable is well-formed'),
    checkModules(config),
    ...(await checkFolder(config)),
    ...(await checkDatabase(config)),
    ...(await checkChain(config)),
    await checkStore(config),
    await checkService(config),
  ]
}

/** Which modules are on. Without `MODULES`, all are. */
function checkModules(config: Config): Finding {
  const namesOf = (modules: readonly Module[]) =>
    modules.map(({ name }) => name).join(', ') || 'none'
  try {
    const { on, off } = modulesOf(config)
    return ok('modules', `on: ${namesOf(on)}; off: ${namesOf(off)}`)
  } catch (error) {
    return fail('modules', reasonOf(error), 'correct it; docs/operate.md lists the settings')
  }
}

async function checkChain(config: Config): Promise<Finding[]> {
  if (config.rpcUrls.length === 0)
    return [
      warn(
        'chain',
        `the chain is the local test chain ${LOCAL_CHAIN_ID}: its documents prove nothing`,
        'set RPC_URL, see docs/go-live.md',
      ),
    ]
  const registryOn = (chainId: number) => registryOf(config, chainId)
  const { findings, chainId } = await checkEndpoints(config, registryOn)
  if (chainId === undefined || !registryOn(chainId).address) return findings
  try {
    const identity = await remoteIdentity(config, () => {})
    try {
      return [...findings, ...(await checkAccount(config, identity))]
    } finally {
      await identity.rpc.close()
    }
  } catch (error) {
    return [...findings, fail('account', reasonOf(error), 'check the settings of the account')]
  }
}

/** @returns The registry of the settings or of `deployments/`, or why there is none. */
function registryOf({ registryAddress }: Config, chainId: number): RegistryOn {
  if (registryAddress === undefined) return onlyKnownRegistry(chainId)
  const known = knownRegistries(DEPLOYMENTS, chainId)
  return known.find(({ address }) => address === registryAddress) ?? { address: registryAddress }
}

async function checkDatabase(config: Config): Promise<Finding[]> {
  const { issuerSecrets } = config
  const adapter = await databaseOf(config)
  const found = await adapter.examine(issuerSecrets && fingerprintsOf(issuerSecrets))
  return found.map((one) => ({ check: 'database', ...one }))
}

async function checkStore(config: Config): Promise<Finding> {
  try {
    const kubo = await openKubo(config, createLog('silent'))
    if (!kubo) return ok('store', 'payloads are in the database alone')
    await kubo.assertReady()
    return ok('store', 'the Kubo node answers, and does not announce stored blocks')
  } catch (error) {
    return fail('store', reasonOf(error), 'see docs/operate.md#payloads-on-kubo')
  }
}

async function checkService({ baseUrl }: Config): Promise<Finding> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) })
    if (response.ok) return ok('service', `${baseUrl} is ready`)
    const text = (await response.text()).slice(0, 500)
    return fail(
      'service',
      `${baseUrl}/readyz answers ${response.status}: ${text}`,
      'docs/errors.md',
    )
  } catch {
    return warn('service', `${baseUrl} does not answer`, 'start it, or set BASE_URL and your proxy')
  }
}
