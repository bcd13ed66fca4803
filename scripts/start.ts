// `npm start`: the gateway, and the local chain when no RPC_URL is set.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { shortFingerprint } from '../gateway/adapters/binding.ts'
import { openKeyFile } from '../gateway/adapters/key-file.ts'
import { type Config, readConfig } from '../gateway/config.ts'
import { fingerprintsOf } from '../gateway/secrets.ts'
import { type Gateway, type Identity, startGateway } from '../gateway/server.ts'
import { CHAIN_FOLDER, DATABASE_FILE } from './backup/contents.ts'
import { listenForBackups } from './backup/control.ts'
import {
  type LocalIdentity,
  localIdentity,
  nameLocalIssuer,
  patiently,
  remoteIdentity,
  tellCause,
} from './identity.ts'

const say = (line = '') => console.log(line)

async function main(): Promise<void> {
  // Whatever is made from here on is for this user alone.
  process.umask(0o077)
  const config = readConfig(process.env)
  const stops: (() => Promise<void>)[] = []
  stopOnSignals(stops)
  try {
    const identity =
      config.rpcUrls.length > 0
        ? await remoteIdentity(config, say)
        : await localIdentity(config, stops, say)
    if (config.rpcUrls.length === 0) await nameLocalIssuer(config, identity)
    const gateway = await patiently(() => startGateway(config, identity, endAtOnce), say)
    stops.unshift(gateway.stop)
    const stopAnswering = await answerBackups(config.dataDir, gateway, identity).catch(sayNoBackups)
    stops.unshift(stopAnswering)
    greet(config, identity, firstKey(config))
  } catch (error) {
    for (const stop of stops) await stop()
    throw error
  }
}

/** For `npm run backup`: copies what is written to all the time. @returns What ends it. */
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

/** Some file systems take no sockets; that is no reason not to issue. */
async function sayNoBackups(error: Error): Promise<() => Promise<void>> {
  say(`npm run backup needs the service stopped: ${error.message}`)
  return async () => {}
}

/** @returns The key itself on the first start, when none was given; it is kept nowhere. */
function firstKey({ dataDir, apiKey }: Config): string | undefined {
  const path = join(dataDir, 'keys.json')
  if (apiKey !== undefined || existsSync(path)) return undefined
  return openKeyFile(path).create({ scopes: ['admin'] }).key
}

function greet(
  { baseUrl, verifyUrl, dataDir, apiKey, rpcUrls, chainPort }: Config,
  { registry, issuerId, issuerSecrets }: Identity,
  key: string | undefined,
): void {
  say()
  say(`document-registry is ready at ${baseUrl}`)
  // An RPC address often holds a key.
  const origins = rpcUrls.map((url) => new URL(url).origin)
  say(`  chain     ${origins.join(', ') || `http://127.0.0.1:${chainPort}`}`)
  say(`  registry  ${registry}`)
  say(`  issuer    ${issuerId}`)
  const secrets = fingerprintsOf(issuerSecrets).map(shortFingerprint)
  say(`  secrets   ${secrets.join(', ')}`)
  say(`  page      ${verifyUrl}`)
  say(`  data      ${dataDir}`)
  say()
  if (key) {
    say('An API key, shown this once:')
    say()
    say(`  export API_KEY=${key}`)
  } else if (apiKey) {
    say('The API key is the one in $API_KEY.')
  } else {
    say('The API key is the one that the first start has shown; make another:')
    say('  npm run keys -- create --scope admin')
  }
  say()
  say('Issue a document:')
  say()
  say(`  publicId=$(curl -sS ${baseUrl}/v1/documents \\
    -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\
    -d '{"subjectName":"Ada Lovelace","subjectId":"18151210","category":"birth_certificate","issuedAt":"2026-01-31"}' \\
    | tee -a /dev/stderr | sed -E 's/.*"publicId":"([^"]+)".*/\\1/')`)
  say()
  say('Verify it:')
  say()
  say(`  curl -sS "${baseUrl}/v1/verify?publicId=$publicId" \\
    -H "Authorization: Bearer $API_KEY"`)
  say()
}

/** Ctrl-C and SIGTERM stop everything once, gateway first; under npm Ctrl-C arrives twice, and the second must not force. */
function stopOnSignals(stops: (() => Promise<void>)[]): void {
  let stopping = false
  const stopAll = async () => {
    if (stopping) return
    stopping = true
    say('stopping …')
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

/** What the disk refused may be lost; the next start reads what is there. */
function endAtOnce(error: Error): void {
  console.error(
    `the disk did not keep what was written, so the service ends; start it again:\n  ${error.message}`,
  )
  process.exit(1)
}

main().catch((error) => {
  console.error(tellCause('start', error))
  process.exit(1)
})
