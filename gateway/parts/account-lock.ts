import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { IssueError } from '#promise/errors.ts'

/** An account of a chain. */
export type AccountId = {
  /** The CAIP-10 account ID of the registry to which it writes. */
  registry: string
  address: string
  /** The hash of the chain's first block, because test chains share their id. */
  genesis: string | null
}

/**
 * Keeps other processes of this machine from writing with the same account. It takes a name that
 * the kernel frees when the process ends in any way. Containers with their own network do not see
 * each other's names.
 *
 * @returns A function that frees the account.
 * @throws {IssueError} `account_shared`.
 */
export async function lockAccount(
  { registry, address, genesis }: AccountId,
  platform: NodeJS.Platform = process.platform,
): Promise<() => Promise<void>> {
  const [namespace, chainId] = registry.split(':')
  const chain = `${namespace}:${chainId}`
  const name = nameOf(`${chain} ${genesis} ${address.toLowerCase()}`, platform)
  if (name === undefined) return async () => {}
  const server = createServer((socket) => socket.destroy()).listen(name)
  try {
    await once(server, 'listening')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
    throw new IssueError(
      'account_shared',
      `another process on this machine sends transactions with the account ${address} on ${chain}: stop it, or set a different account (ISSUER_KEY) for each gateway`,
      cause,
    )
  }
  server.unref()
  return async () => {
    await new Promise((resolve) => server.close(resolve))
  }
}

/** @returns `undefined` on systems on which names outlive a killed process. */
function nameOf(text: string, platform: NodeJS.Platform): string | undefined {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 32)
  const name = `document-registry-account-${digest}`
  if (platform === 'linux') return `\0${name}`
  return platform === 'win32' ? `\\\\.\\pipe\\${name}` : undefined
}
