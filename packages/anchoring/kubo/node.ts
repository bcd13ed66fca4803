import { create, type KuboRPCClient } from 'kubo-rpc-client'
import { CID } from 'multiformats/cid'
import { IssueError } from '#promise/errors.ts'
import { type Block, decodeCar, encodeCar } from './group.ts'

/** The oldest version of Kubo that is known to work. */
const OLDEST = [0, 43] as const

/**
 * A Kubo node with the operations that the payload store needs. Every method rejects with an
 * `IssueError` `store_unavailable`.
 */
export type KuboNode = {
  /** @returns Warnings for the operator. Rejects if nothing must be stored on the node. */
  check(): Promise<string[]>
  /** Writes and pins. When this resolves, the node has the root and all its blocks. */
  pin(root: Block, blocks: readonly Block[]): Promise<void>
  unpin(root: CID): Promise<void>
  hasPin(root: CID): Promise<boolean>
  /**
   * @returns The root of a pin that keeps the block, or the block itself; `undefined` when nothing
   * keeps it. The node reads all roots for this.
   */
  pinOf(cid: CID): Promise<CID | undefined>
  /** Deletes a block that is not pinned. No garbage collection is needed. */
  removeBlock(cid: CID): Promise<void>
  /** @returns The block if the node itself has it. The node does not search the network. */
  get(cid: CID): Promise<Uint8Array | undefined>
}

/** Work that grows with the number of pins may take this many times as long as a call. */
const MAX_SLOWER = 30

/** The client drops its `searchParams` option, but sends options that it does not know. */
const OFFLINE: object = { offline: true }

/**
 * @param url The RPC API of the node, with user and password if it requires them (Kubo's
 * `API.Authorizations`).
 * @param timeout The milliseconds that each call may take.
 * @param announce Whether the node may announce blocks to the public network.
 */
export function createKuboNode(url: string, timeout: number, announce: boolean): KuboNode {
  const client = connect(url)

  async function run<T>(
    what: string,
    call: (signal: AbortSignal) => Promise<T>,
    slower = 1,
  ): Promise<T> {
    try {
      return await call(AbortSignal.timeout(timeout * slower))
    } catch (error) {
      throw unavailable(`${what}: ${reasonOf(error)}`, error)
    }
  }

  return {
    check: () => run('check', (signal) => checkNode(client, announce, signal)),

    async pin(root, blocks) {
      await run('dag/import', (signal) => importCar(client, root, blocks, signal))
      await run('read back', (signal) => verifyPinned(client, root, blocks, signal))
    },

    unpin: (root) =>
      run('pin/rm', async (signal) => {
        try {
          await client.pin.rm(root, { signal })
        } catch (error) {
          if (!/not pinned/.test(reasonOf(error))) throw error
        }
      }),

    hasPin: (root) => run('pin/ls', (signal) => hasPin(client, root, signal)),

    pinOf: (cid) => run('pin/ls', (signal) => pinOf(client, cid, signal), MAX_SLOWER),

    removeBlock: (cid) =>
      run(
        'block/rm',
        async (signal) => {
          for (const { error } of await collect(client.block.rm(cid, { force: true, signal })))
            if (error) throw error
        },
        MAX_SLOWER,
      ),

    get: (cid) =>
      run('block/get', async (signal) => {
        try {
          return await client.block.get(cid, { ...OFFLINE, signal })
        } catch (error) {
          if (isNotFound(reasonOf(error))) return undefined
          throw error
        }
      }),
  }
}

/** @returns Warnings for the operator. Rejects if nothing must be stored on the node. */
async function checkNode(
  client: KuboRPCClient,
  announce: boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const [{ version }, provide, datastore] = await Promise.all([
    client.version({ signal }),
    client.config.get('Provide', { signal }),
    client.config.get('Datastore', { signal }),
  ])
  if (!isRecent(version)) throw new Error(`version ${version} is older than ${OLDEST.join('.')}`)
  if (!announce && !isQuiet(provide))
    throw new Error(
      'the node announces stored blocks: set its Provide.Enabled to false, or IPFS_ANNOUNCE=true',
    )
  return JSON.stringify(datastore).includes('"sync":false')
    ? [
        'its datastore does not flush to the disk: a power cut can lose documents. Set "sync" to true in its Datastore.Spec',
      ]
    : []
}

/**
 * The status 200 comes before anything is pinned. The result of the pin is in the body, and a late
 * error is in trailers, which fetch does not expose.
 */
async function importCar(
  client: KuboRPCClient,
  root: Block,
  blocks: readonly Block[],
  signal: AbortSignal,
): Promise<void> {
  let pinned = false
  const car = once(encodeCar(root, blocks))
  for await (const { root: result } of client.dag.import([car], { pinRoots: true, signal })) {
    if (result.pinErrorMsg) throw new Error(result.pinErrorMsg)
    pinned ||= result.cid.equals(root.cid)
  }
  if (!pinned) throw new Error('the root was not pinned')
}

/**
 * Reads everything back, because a response without an error does not prove that the blocks are
 * stored.
 */
async function verifyPinned(
  client: KuboRPCClient,
  root: Block,
  blocks: readonly Block[],
  signal: AbortSignal,
): Promise<void> {
  if (!(await hasPin(client, root.cid, signal))) throw new Error('the pin is missing')
  const chunks = await collect(client.dag.export(root.cid, { signal }))
  const read = await decodeCar(Buffer.concat(chunks))
  for (const { cid, bytes } of [root, ...blocks])
    if (Buffer.compare(read.get(`${cid}`) ?? Buffer.of(), bytes) !== 0)
      throw new Error('a written block is missing')
}

async function hasPin(client: KuboRPCClient, root: CID, signal: AbortSignal): Promise<boolean> {
  try {
    const [pin] = await collect(client.pin.ls({ paths: root, type: 'recursive', signal }))
    return pin?.cid.equals(root) ?? false
  } catch (error) {
    if (/not pinned/.test(reasonOf(error))) return false
    throw error
  }
}

const INDIRECT = /^indirect through (\S+)$/

async function pinOf(
  client: KuboRPCClient,
  cid: CID,
  signal: AbortSignal,
): Promise<CID | undefined> {
  try {
    const [pin] = await collect(client.pin.ls({ paths: cid, type: 'all', signal }))
    const root = INDIRECT.exec(String(pin?.type))?.[1]
    return root === undefined ? pin?.cid : CID.parse(root)
  } catch (error) {
    if (/not pinned/.test(reasonOf(error))) return undefined
    throw error
  }
}

/**
 * User and password are sent in a header, because fetch refuses them in a URL and would quote them
 * in its error.
 */
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

const isNotFound = (reason: string) => /could not find/.test(reason)

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
