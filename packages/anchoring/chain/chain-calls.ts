import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'

/** Calls to a node with decoded answers. All reject with an `IssueError`. */
export type ChainCalls = {
  /** @param read Decodes the answer, and throws when it is malformed. */
  request<T>(method: string, read: (answer: unknown) => T, ...params: unknown[]): Promise<T>
  /** Calls the registry at the newest block. */
  call<T>(data: string, decode: (result: Hex) => T): Promise<T>
  /** @param method A view of the registry that returns one struct, as ethers decodes it. */
  // biome-ignore lint/suspicious/noExplicitAny: what ethers decodes
  view(method: string, ...args: unknown[]): Promise<any>
}

/** @param address The address of the registry. */
export function createChainCalls(provider: Eip1193Provider, address: string): ChainCalls {
  async function request<T>(
    method: string,
    read: (answer: unknown) => T,
    ...params: unknown[]
  ): Promise<T> {
    let answer: unknown
    try {
      answer = await provider.request({ method, params })
    } catch (error) {
      throw asIssueError(method, error)
    }
    try {
      return read(answer)
    } catch (cause) {
      throw new IssueError('chain_unavailable', `${method}: malformed answer`, cause)
    }
  }

  async function call<T>(data: string, decode: (result: Hex) => T): Promise<T> {
    const result = await request(
      'eth_call',
      (answer) => (answer === '0x' ? undefined : { of: decode(answer as Hex) }),
      { to: address, data },
      'latest',
    )
    if (result) return result.of
    throw new IssueError('registry_refused', `there is no registry at ${address}`)
  }

  return {
    request,
    call,
    view: (method, ...args) =>
      call(
        registryAbi.encodeFunctionData(method, args),
        (result) => registryAbi.decodeFunctionResult(method, result)[0],
      ),
  }
}

export function asIssueError(method: string, error: unknown): IssueError {
  const message = `${method}: ${error instanceof Error ? error.message : error}`
  return new IssueError(codeOf(error), message, error)
}

/**
 * Nodes distinguish these cases only by their messages. An unclear error counts as an outage, after
 * which the call is tried again.
 */
function codeOf(error: unknown) {
  const refused =
    error instanceof RpcResponseError &&
    (error.code === 3 || /revert|insufficient funds/i.test(error.message))
  return refused ? 'registry_refused' : 'chain_unavailable'
}
