import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * @returns Where this user keeps what is fetched or built once, outside the checkout. It need not
 * exist.
 */
export function cacheFolder(...parts: string[]): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(base, 'document-registry', ...parts)
}
