import { readAtMost, TooLargeError } from '../../document/bytes.ts'
import type { IdentitySource } from '../ports.ts'
import { abortable, withTimeout } from '../signal.ts'

/** The maximum size in bytes. */
export const MAX_DID_DOCUMENT = 64 * 1024
export const IDENTITY_TIMEOUT_MS = 5_000

export type IdentitySourceOptions = {
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch
  /** Milliseconds per document; 5000 if absent. */
  timeout?: number
}

/**
 * Reads DID documents from the domains. Follows no redirects, because a browser hides their target
 * from a page, so a redirect to another host could not be refused.
 *
 * @example
 * ```ts
 * const chain = createChainReader(createFetchProvider('https://rpc.example'), registry)
 * const blocks = [createIpfsGatewaySource('https://ipfs.example')]
 * const { checks } = await verify(publicId, { chain, blocks, identity: createIdentitySource() })
 * ```
 */
export function createIdentitySource({
  fetch = globalThis.fetch,
  timeout = IDENTITY_TIMEOUT_MS,
}: IdentitySourceOptions = {}): IdentitySource {
  return {
    async read({ url }, options = {}) {
      const signal = withTimeout(timeout, options.signal)
      return abortable(async () => {
        const response = await fetch(url, {
          cache: 'no-cache',
          credentials: 'omit',
          redirect: 'error',
          referrerPolicy: 'no-referrer',
          signal,
        })
        if (response.status !== 200) {
          await response.body?.cancel()
          throw new Error(`HTTP ${response.status}`)
        }
        try {
          const bytes = await readAtMost(response.body, MAX_DID_DOCUMENT)
          return { status: 'found', bytes }
        } catch (error) {
          if (error instanceof TooLargeError) return { status: 'too_large' }
          throw error
        }
      }, signal)
    },
  }
}
