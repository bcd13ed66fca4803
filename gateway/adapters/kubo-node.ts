import { create, type KuboRPCClient } from 'kubo-rpc-client'
import type { CID } from 'multiformats/cid'
import { IssueError } from '../issue/errors.ts'
import { type Block, decodeCar, encodeCar } from './kubo-group.ts'

/** The oldest Kubo that is known to work. */
const OLDEST = [0, 43] as const

/** What the payload store needs of a Kubo node. Every method rejects with an `IssueError` `store_unavailable`. */
export type KuboNode = {
  /** Rejects for a node that must not be given anything. @returns What its operator should be warned of. */
  check(): Promise<string[]>
  /** Writes and pins: the root and all that it links to is there when this resolves. */
  pin(root: Block, blocks: readonly Block[]): Promise<void>
  unpin(root: CID): Promise<void>
  /** @returns The block, if the node itself has it; it does not look elsewhere. */
  get(cid: CID): Promise<Uint8Array | undefined>
}

/**
 * @param url Of its RPC API; with user and password where it asks for them (Kubo's `API.Authorizations`).
 * @param timeout Milliseconds that each call may take.
 * @param announce Whether the node may announce what it is given to the public network.
 */
export function createKuboNode(url: string, timeout: number, announce: boolean): KuboNode {
  const client = connect(url)

  async function ask<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await call(AbortSignal.timeout(timeout))
    } catch (error) {
      throw unavailable(`${what}: ${reasonOf(error)}`, error)
    }
  }

  /** The answer is 200 before anything is pinned: whether it was stands in the body, and a late error in trailers that fetch does not show. */
  async function importCar(
    root: Block,
    blocks: readonly Block[],
    signal: AbortSignal,
  ): Promise<void> {
    let pinned = false
    const car = once(encodeCar(root, blocks))
    for await (const { root: answer } of client.dag.import([car], {
      pinRoots: true,
      signal,
    })) {
      if (answer.pinErrorMsg) throw new Error(answer.pinErrorMsg)
      pinned ||= answer.cid.equals(root.cid)
    }
    if (!pinned) throw new Error('the root was not pinned')
  }

  /** Reads all of it back, since an answer without an error is no proof. */
  async function verify(root: Block, blocks: readonly Block[], signal: AbortSignal): Promise<void> {
    const [there] = await collect(client.pin.ls({ paths: root.cid, type: 'recursive', signal }))
    if (!there?.cid.equals(root.cid)) throw new Error('the pin is not there')
    const chunks = await collect(client.dag.export(root.cid, { signal }))
    const read = await decodeCar(Buffer.concat(chunks))
    for (const { cid, bytes } of [root, ...blocks])
      if (Buffer.compare(read.get(`${cid}`) ?? Buffer.of(), bytes) !== 0)
        throw new Error('a block that was written is not there')
  }

  return {
    check: () =>
      ask('check', async (signal) => {
        const [{ version }, provide, datastore] = await Promise.all([
          client.version({ signal }),
          client.config.get('Provide', { signal }),
          client.config.get('Datastore', { signal }),
        ])
        if (!isRecent(version))
          throw new Error(`version ${version} is older than ${OLDEST.join('.')}`)
        if (!announce && !isQuiet(provide))
          throw new Error(
            'the node announces what it stores: set its Provide.Enabled to false, or IPFS_ANNOUNCE=true',
          )
        return JSON.stringify(datastore).includes('"sync":false')
          ? [
              'its datastore does not flush to the disk: a power cut can lose documents. Set "sync" to true in its Datastore.Spec',
            ]
          : []
      }),

    async pin(root, blocks) {
      await ask('dag/import', (signal) => importCar(root, blocks, signal))
      await ask('read back', (signal) => verify(root, blocks, signal))
    },

    unpin: (root) =>
      ask('pin/rm', async (signal) => {
        try {
          await client.pin.rm(root, { signal })
        } catch (error) {
          if (!/not pinned/.test(reasonOf(error))) throw error
        }
      }),

    get: (cid) =>
      ask('block/get', async (signal) => {
        try {
          const searchParams = new URLSearchParams({ offline: 'true' })
          return await client.block.get(cid, { searchParams, signal })
        } catch (error) {
          if (/could not find/.test(reasonOf(error))) return undefined
          throw error
        }
      }),
  }
}

/** User and password go into a header: fetch refuses them in a URL, and would quote them in its error. */
function connect(address: string): KuboRPCClient {
  const url = new URL(address)
  const { username, password } = url
  if (username === '') return create({ url })
  url.username = ''
  url.password = ''
  const secret = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization = `Basic ${Buffer.from(secret).toString('base64')}`
  return create({ url, headers: { authorization } })
}

async function* once<T>(item: T): AsyncGenerator<T> {
  yield item
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}

function isQuiet(provide: unknown): boolean {
  return (
    typeof provide === 'object' &&
    provide !== null &&
    'Enabled' in provide &&
    provide.Enabled === false
  )
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  return code ? `${error.message} (${code})` : error.message
}

function unavailable(message: string, cause: unknown): IssueError {
  return new IssueError('store_unavailable', `Kubo, ${message}`, cause)
}
