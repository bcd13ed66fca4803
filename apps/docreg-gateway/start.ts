// Starts the gateway, and the local chain if no RPC_URL is set.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLog } from '#base/log.ts'
import { printableJson } from '#cli/printable.ts'
import { drawQrCode } from '#cli/qr-terminal.ts'
import type { Terminal } from '#cli/terminal.ts'
import { type Gateway, startGateway } from '#gateway/main.ts'
import { makeKey } from '#keys/keys.ts'
import type { KeyStore } from '#keys/ports.ts'
import { DEFAULT_TENANT } from '#keys/settings.ts'
import { modulesOf } from '#modules/all.ts'
import { deskModule } from '#modules/desk/module.ts'
import { deskUrlOf, invitationLinkOf } from '#modules/desk/people/desk.ts'
import { newInvitation } from '#modules/desk/people/people.ts'
import { newPerson } from '#modules/desk/people/person.ts'
import type { PeopleStore } from '#modules/desk/people/ports.ts'
import { createPeopleStore } from '#modules/desk/people/store.ts'
import type { Identity } from '#parts/chain.ts'
import { databaseOf } from '#parts/databases.ts'
import type { ChosenModules } from '#parts/module.ts'
import { type Config, readConfig } from '#settings/config.ts'
import { fingerprintsOf } from '#settings/secrets.ts'
import { shortFingerprint } from '#store/binding.ts'
import { prepareFolder } from '#store/drivers/sqlite/open-file.ts'
import { networkOf, TEST_NETWORK } from '#verifier/network.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { CHAIN_FOLDER, DATABASE_FILE } from './backup/contents.ts'
import { listenForBackups } from './backup/control.ts'
import { quoted } from './backup/dump-commands.ts'
import { type LocalIdentity, nameLocalIssuer, openIdentity, patiently } from './identity.ts'
import { issueSample, SAMPLE } from './sample.ts'
import { writeDurably } from './secrets.ts'

const say = (line = '') => console.log(line)

/** Never returns. A signal or a failed disk ends the process. */
export async function start({ write, note }: Terminal, json: boolean): Promise<never> {
  const tell = json ? note : write
  const config = readConfig(process.env)
  const modules = modulesOf(config)
  const isNewcomer = !json && isFirstLocalStart(config) && process.stdout.isTTY === true
  const stops: (() => Promise<void>)[] = []
  stopOnSignals(stops, tell)
  prepareFolder(config.dataDir)
  try {
    const identity = await openIdentity(config, stops, tell)
    if (config.rpcUrls.length === 0) await nameLocalIssuer(config, identity)
    const gateway = await patiently(() => startGateway(config, identity, modules, endAtOnce), tell)
    stops.unshift(gateway.stop)
    const stopAnswering = await answerBackups(config.dataDir, gateway, identity).catch((error) =>
      tellNoBackups(error, tell),
    )
    stops.unshift(stopAnswering)
    const { key, link } = await firstSecrets(config, modules)
    const sampleLink = isNewcomer ? await issueSample(config, config.apiKey ?? key) : undefined
    if (config.rpcUrls.length === 0) writeCommandSettings(config, identity)
    if (json) write(printableJson(asJson(config, identity, { key, link })))
    else {
      describe(config, identity)
      if (modules.on.includes(deskModule)) showDesk(config, link)
      showKey(config, key)
      if (sampleLink) await showSample(sampleLink)
      showCommands(config, sampleLink ? 'Issue the next document:' : 'Issue a document:')
    }
    return await new Promise<never>(() => {})
  } catch (error) {
    for (const stop of stops) await stop()
    throw error
  }
}

/**
 * Serves `docreg-gateway backup`, which cannot copy files in use itself. @returns A function that
 * ends it.
 */
function answerBackups(
  dataDir: string,
  gateway: Gateway,
  identity: Identity | LocalIdentity,
): Promise<() => Promise<void>> {
  const { request } = identity.rpc
  return listenForBackups(dataDir, async (folder) => {
    const block = await request({ method: 'eth_blockNumber' }).catch(() => null)
    await gateway.copyDatabase(
      join(folder, DATABASE_FILE),
      'copyChain' in identity ? () => identity.copyChain(join(folder, CHAIN_FOLDER)) : undefined,
    )
    return block === null ? null : Number(block)
  })
}

/** Some file systems do not support sockets. The gateway issues all the same. */
async function tellNoBackups(
  { message }: Error,
  tell: (line: string) => void,
): Promise<() => Promise<void>> {
  tell(`docreg-gateway backup only works while the gateway is stopped: ${message}`)
  return async () => {}
}

/** These settings let `npx docreg` in the checkout find the local chain. */
function writeCommandSettings(
  { baseUrl, dataDir, chainPort }: Config,
  { registry, issuerId }: Identity,
): void {
  const rpc = [`http://127.0.0.1:${chainPort}`]
  const settings = { gateway: baseUrl, registry, issuer: issuerId, rpc, ipfs: [baseUrl] }
  writeFileSync(join(dataDir, 'docreg.config.json'), `${JSON.stringify(settings, null, 2)}\n`)
}

/** What the first start makes. It is not stored in clear. */
type FirstSecrets = {
  /** Absent if `API_KEY` is set or there has been a key. */
  key: string | undefined
  /**
   * Signs in to the desk once. Absent with another chain, with the desk off, and if there are people.
   */
  link: string | undefined
}

async function firstSecrets(config: Config, { on }: ChosenModules): Promise<FirstSecrets> {
  const adapter = await databaseOf(config)
  const keys = await adapter.openKeys(createLog('warn'))
  try {
    const needsKey = config.apiKey === undefined && !(await keys.hadKeys())
    const people = createPeopleStore(keys.database)
    const isOpenDesk = on.includes(deskModule) && config.rpcUrls.length === 0
    const needsLink = isOpenDesk && (await people.list()).length === 0
    return {
      key: needsKey ? await firstKey(config, keys.store) : undefined,
      link: needsLink ? await firstLink(config, people) : undefined,
    }
  } finally {
    await keys.close()
  }
}

async function firstKey(config: Config, store: KeyStore): Promise<string> {
  const { key, secret } = makeKey({
    scopes: ['admin'],
    tenant: DEFAULT_TENANT,
    label: 'made at the first start',
  })
  keepFor(keyFileOf(config), secret)
  await store.put(key)
  return secret
}

async function firstLink(config: Config, people: PeopleStore): Promise<string> {
  const person = newPerson({ name: 'Administrator', role: 'administrator', tenant: DEFAULT_TENANT })
  const { secret, invitation } = newInvitation()
  const link = invitationLinkOf(config.baseUrl, secret)
  keepFor(linkFileOf(config), link)
  await people.add(person, invitation, 1)
  return link
}

/**
 * Writes a secret to a file when standard output is a file, a pipe or a journal. Call this before
 * the secret is stored: a kill in between leaves a file that opens nothing and is written again.
 */
function keepFor(file: string, secret: string): void {
  if (process.stdout.isTTY) rmSync(file, { force: true })
  else {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeDurably(file, `${secret}\n`)
  }
}

const keyFileOf = ({ dataDir }: Config) => join(dataDir, 'first-api-key')
const linkFileOf = ({ dataDir }: Config) => join(dataDir, 'first-desk-link')

function isFirstLocalStart({ rpcUrls, dataDir }: Config): boolean {
  return rpcUrls.length === 0 && !existsSync(join(dataDir, CHAIN_FOLDER))
}

/** @returns The facts that a start reports, in the order of its lines. */
function factsOf(
  { baseUrl, verifyUrl, dataDir, rpcUrls, chainPort, liveChains }: Config,
  { registry, issuerId, issuerSecrets }: Identity,
) {
  const { chainId } = parseRegistry(registry)
  return {
    url: baseUrl,
    // Only origins are shown, because an RPC URL often contains a key.
    chain: rpcUrls.length > 0 ? originsOf(rpcUrls) : [`http://127.0.0.1:${chainPort}`],
    registry,
    network: networkOf(chainId, liveChains),
    issuer: issuerId,
    secrets: fingerprintsOf(issuerSecrets).map(shortFingerprint),
    page: verifyUrl,
    data: dataDir,
  }
}

const originsOf = (urls: readonly string[]) => urls.map((url) => new URL(url).origin)

function asJson(config: Config, identity: Identity, made: FirstSecrets): object {
  const [apiKeyFile, deskLinkFile] = [keyFileOf(config), linkFileOf(config)]
  const isInFile = config.apiKey === undefined && existsSync(apiKeyFile)
  const isShown = (secret: string | undefined) => process.stdout.isTTY && secret !== undefined
  return {
    ...factsOf(config, identity),
    ...(isShown(made.key) ? { apiKey: made.key } : isInFile && { apiKeyFile }),
    ...(isShown(made.link)
      ? { deskLink: made.link }
      : existsSync(deskLinkFile) && { deskLinkFile }),
  }
}

function describe(config: Config, identity: Identity): void {
  const { url, chain, registry, network, issuer, secrets, page, data } = factsOf(config, identity)
  say()
  say(`document-registry is ready at ${url}`)
  say(`  chain     ${chain.join(', ')}`)
  say(`  registry  ${registry}`)
  if (config.rpcUrls.length > 0 && network === 'test')
    say(`  network   ${TEST_NETWORK}; LIVE_CHAINS names a chain of your own`)
  say(`  issuer    ${issuer}`)
  say(`  secrets   ${secrets.join(', ')}`)
  say(`  page      ${page}`)
  say(`  data      ${data}`)
  say()
}

function showDesk(config: Config, link: string | undefined): void {
  const file = linkFileOf(config)
  if (link && process.stdout.isTTY) {
    say('The desk, in the browser of this machine. The link works once:')
    say()
    say(`  ${link}`)
  } else if (existsSync(file)) {
    say(
      'The link to the desk, which works once, is in a file that only its owner can read. Delete it after use:',
    )
    say()
    say(`  cat ${quoted(file)}`)
  } else {
    say(`The desk is at ${deskUrlOf(config.baseUrl)}. To let somebody in:`)
    say('  docreg-gateway desk invite --name Administrator --role administrator')
  }
  say()
}

function showKey(config: Config, key: string | undefined): void {
  const file = keyFileOf(config)
  if (key && process.stdout.isTTY) {
    say('An API key, shown only now:')
    say()
    say(`  export API_KEY=${key}`)
  } else if (config.apiKey) {
    say('The API key is that of $API_KEY.')
  } else if (existsSync(file)) {
    say(
      'The first API key is in a file that only its owner can read. Delete the file after reading it:',
    )
    say()
    say(`  export API_KEY=$(cat ${quoted(file)})`)
  } else {
    say('The first start created an API key. To create another:')
    say('  docreg-gateway keys create --scope admin')
  }
  say()
}

/**
 * This is written only to the terminal. The link contains a publicId, which must never reach the
 * log.
 */
async function showSample(link: string): Promise<void> {
  say('A sample document has been issued. Open its link, as the QR code would:')
  say()
  say(`  ${link}`)
  say()
  for (const line of await drawQrCode(link, process.stdout.columns)) say(line)
  say()
}

function showCommands({ baseUrl }: Config, invitation: string): void {
  say(invitation)
  say()
  say(`  publicId=$(curl -sS ${baseUrl}/v1/documents \\
    -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\
    -d '${JSON.stringify(SAMPLE)}' \\
    | tee -a /dev/stderr | sed -E 's/.*"publicId":"([^"]+)".*/\\1/')`)
  say()
  say('Verify it:')
  say()
  say(`  curl -sS "${baseUrl}/v1/verify?publicId=$publicId" \\
    -H "Authorization: Bearer $API_KEY"`)
  say()
}

/**
 * Ctrl-C and SIGTERM stop everything once, the gateway first. Under npm Ctrl-C arrives twice, and
 * the second one must not force an end.
 */
function stopOnSignals(stops: (() => Promise<void>)[], tell: (line: string) => void): void {
  let stopping = false
  const stopAll = async () => {
    if (stopping) return
    stopping = true
    tell('stopping …')
    for (const stop of stops) await stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      stopAll().catch((error) => {
        console.error(error)
        process.exit(1)
      })
    })
}

/** A failed flush may have lost the write. The next start reads what is on disk. */
function endAtOnce(error: Error): void {
  console.error(
    `the disk could not store a write, so the service ends; start it again:\n  ${error.message}`,
  )
  process.exit(1)
}
