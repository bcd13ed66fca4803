import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * @returns A folder of this user outside the checkout, for files that are fetched or built once. It
 * may not exist yet.
 */
export function cacheFolder(...parts: string[]): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(base, 'document-registry', ...parts)
}
