import { fileURLToPath } from 'node:url'

/**
 * A cache of compiled modules, so that the hundreds of processes that tests start need half of
 * their processor time. It is for processes whose environment a test writes itself; the others
 * inherit it.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)),
}
