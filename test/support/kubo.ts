import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { create, type KuboRPCClient } from 'kubo-rpc-client'
import { goTool } from '#tools/go-tool.ts'
import { freePort } from './http.ts'

const run = promisify(execFile)

/** A real Kubo daemon on loopback, without peers, in its own folder. */
export type Kubo = {
  apiUrl: string
  /** The address of its trustless gateway. */
  gatewayUrl: string
  client: KuboRPCClient
  /** Runs `ipfs …`; the daemon may be up or down. @returns Its standard output. */
  ipfs(...args: string[]): Promise<string>
  /** @returns The CIDs of recursive pins. */
  pins(): Promise<string[]>
  start(): Promise<void>
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** Stops it and removes the folder. */
  remove(): Promise<void>
}

/** @returns The path of the binary; `undefined` on a machine that cannot build it. */
export const kuboBinary = (): Promise<string | undefined> =>
  goTool({
    module: 'github.com/ipfs/kubo',
    version: 'v0.43.0',
    command: './cmd/ipfs',
  })

/** @param secret Credentials that its RPC API requires, `user:password`. */
export async function createKubo(binary: string, secret?: string): Promise<Kubo> {
  const folder = mkdtempSync(join(tmpdir(), 'document-registry-kubo-'))
  const env = { IPFS_PATH: folder, HOME: folder, IPFS_TELEMETRY: 'off' }
  const [api, gateway] = [await freePort(), await freePort()]
  const apiUrl = `http://127.0.0.1:${api}`
  const client = create({ url: apiUrl })
  let daemon: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()

  const ipfs = async (...args: string[]) => (await run(binary, args, { env })).stdout.trim()

  // The profile `test` has no bootstrap, random ports on loopback, and no discovery.
  await ipfs('init', '--empty-repo', '--profile=test')
  const file = join(folder, 'config')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  config.Addresses.API = `/ip4/127.0.0.1/tcp/${api}`
  config.Addresses.Gateway = `/ip4/127.0.0.1/tcp/${gateway}`
  config.Addresses.Swarm = []
  config.Provide.Enabled = false
  config.Datastore.Spec.mounts[0].sync = true
  if (secret)
    config.API.Authorizations = {
      tests: { AuthSecret: `basic:${secret}`, AllowedPaths: ['/api/v0'] },
    }
  writeFileSync(file, JSON.stringify(config))

  return {
    apiUrl,
    gatewayUrl: `http://127.0.0.1:${gateway}`,
    client,
    ipfs,

    async pins() {
      const pins: string[] = []
      for await (const { cid } of client.pin.ls({ type: 'recursive' })) pins.push(cid.toString())
      return pins
    },

    async start() {
      const child = spawn(binary, ['daemon', '--offline'], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      daemon = child
      ended = new Promise((resolve) => {
        child.once('exit', () => resolve())
      })
      await new Promise<void>((resolve, reject) => {
        child.once('exit', (code) => reject(new Error(`Kubo ended: ${code}`)))
        child.stdout.on('data', (text) => {
          if (String(text).includes('Daemon is ready')) resolve()
        })
      })
    },

    async signal(name) {
      daemon?.kill(name)
      if (name === 'SIGKILL') await ended
    },

    async remove() {
      daemon?.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
