import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errors, Pool } from 'undici'
import { LOCAL_CHAIN_ID } from '#verifier/defaults.ts'
import { LocalChainError } from './errors.ts'
import { freePort } from './free-port.ts'
import { requestFor, resultIn } from './rpc.ts'

/** An Anvil that takes longer is stuck. A dump of 20,000 documents takes 2 s on a busy machine. */
const ANSWER_TIMEOUT_MS = 60_000

/**
 * Ends Anvil together with this process, however that ends. The shell starts a reader on a pipe
 * that this process holds, and becomes Anvil. The two form their own process group, so that the
 * reader's signal reaches nothing else, and Ctrl-C in a terminal does not end Anvil before the
 * gateway has drained.
 */
export const START_AND_WATCH = '{ read -r _ <&3; kill -9 0; } & exec "$@" 3<&-'

export type Block = {
  number: string
  hash: string
  parentHash: string
  timestamp: string
  transactions: { hash: string }[]
}

/** A running Anvil that mines only on request, on a private port. */
export class Anvil {
  /** The reason why it ended. */
  readonly ended: Promise<string>
  readonly #child: ChildProcess
  readonly #origin: string
  readonly #pool: Pool

  private constructor(child: ChildProcess, port: number, origin: string) {
    this.#child = child
    this.#origin = origin
    this.#pool = new Pool(`http://127.0.0.1:${port}`, {
      connections: 16,
      headersTimeout: ANSWER_TIMEOUT_MS,
    })
    this.ended = once(child, 'exit').then(
      ([code, signal]) => `it exited with ${signal ?? code}`,
      (error: Error) => error.message,
    )
  }

  /**
   * Starts an Anvil, and waits until it answers.
   * @throws {LocalChainError} `anvil_missing`, `anvil_failed`
   */
  static async start(dir: string, genesisTime: number): Promise<Anvil> {
    const port = await freePort()
    // No web page has this origin, so none can reach Anvil past the front. It also distinguishes
    // this Anvil from any other program on the port.
    const origin = `http://${randomBytes(16).toString('hex')}.invalid`
    const anvil = new Anvil(launch(dir, port, origin, genesisTime), port, origin)
    let answers = false
    const failed = anvil.ended.then((reason) => {
      if (answers) return
      const message = `Anvil cannot be started: ${reason}. See ${join(dir, 'anvil.log')}.`
      throw new LocalChainError('anvil_failed', message)
    })
    while (!answers) {
      await Promise.race([failed, sleep(5)])
      answers = await anvil.call('eth_chainId').then(Boolean, () => false)
    }
    return anvil
  }

  /** @throws if Anvil is gone or does not answer; a JSON-RPC error is an answer like any other */
  async post(body: string): Promise<Buffer> {
    const headers = { 'content-type': 'application/json' }
    try {
      const response = await this.#pool.request({ method: 'POST', path: '/', headers, body })
      const answer = Buffer.from(await response.body.arrayBuffer())
      if (response.headers['access-control-allow-origin'] === this.#origin) return answer
      throw new Error('another program answers on the port of Anvil')
    } catch (error) {
      if (error instanceof errors.HeadersTimeoutError) this.#child.kill('SIGKILL')
      throw error
    }
  }

  /** @throws also for a JSON-RPC error */
  async call<T>(method: string, ...params: unknown[]): Promise<T> {
    return resultIn(await this.post(requestFor(method, params))) as T
  }

  /** Kills it and waits until it has ended. Nothing is lost, because the journal has everything. */
  async end(): Promise<void> {
    this.#child.ref()
    this.#child.kill('SIGKILL')
    await this.ended
    await this.#pool.destroy()
  }
}

function launch(dir: string, port: number, origin: string, genesisTime: number): ChildProcess {
  const options = [
    `--host 127.0.0.1 --port ${port} --allow-origin ${origin} --quiet --no-request-size-limit`,
    `--chain-id ${LOCAL_CHAIN_ID} --timestamp ${genesisTime} --no-mining --enable-tx-gas-limit`,
    // Every block is final at once, so there are no reorgs.
    '--slots-in-an-epoch 0 --prune-history 10',
  ]
  const log = openSync(join(dir, 'anvil.log'), 'a', 0o600)
  const child = spawn(
    '/bin/sh',
    ['-c', START_AND_WATCH, 'sh', binary(), ...options.flatMap((line) => line.split(' '))],
    // The environment is empty, because that of the gateway contains keys.
    { cwd: dir, detached: true, stdio: ['ignore', log, log, 'pipe'], env: {} },
  )
  closeSync(log)
  const pipe = child.stdio[3] as Socket
  child.once('exit', () => pipe.destroy())
  // Neither of them keeps this process alive.
  child.unref()
  pipe.unref()
  return child
}

/**
 * Uses the native binary, because the package's Node wrapper would be another process that gets
 * signals.
 */
function binary(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  try {
    const { resolve } = createRequire(import.meta.url)
    return join(dirname(resolve(`${name}/package.json`)), 'bin', 'anvil')
  } catch (cause) {
    throw new LocalChainError(
      'anvil_missing',
      `The npm package ${name} is not installed: run npm install, or set RPC_URL to use another chain.`,
      { cause },
    )
  }
}
