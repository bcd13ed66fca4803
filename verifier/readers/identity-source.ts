import { readAtMost, TooLargeError } from '../../document/bytes.ts'
import type { IdentitySource } from '../ports.ts'
import { abortable, withTimeout } from '../signal.ts'

/** Bytes. */
export const MAX_DID_DOCUMENT = 64 * 1024
export const IDENTITY_TIMEOUT_MS = 5_000

export type IdentitySourceOptions = {
  /** In the place of the global one. */
  fetch?: typeof fetch
  /** Milliseconds that a document may take, 5000 if absent. */
  timeout?: number
}

/**
 * Gets DID documents from the domains themselves. No redirect is followed: a browser does not let a
 * page see where one leads, so it could not stop before another host.
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
