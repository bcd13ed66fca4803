import type { PageConfig } from '#web/config.ts'
import { type BuiltPage, readBuilt } from './built-file.ts'

/** The page as built by the set-up or `scripts/build-page.ts`. */
export const PAGE_FILE = new URL('../../../dist/verify.html', import.meta.url)

const NO_CONFIG = '<script type="application/json" id="config">null</script>'

/**
 * Puts a configuration into the built page. It is data, so no hash in the policy covers it.
 *
 * @param html The built page.
 * @throws {Error} if the page has no place for it.
 */
export function withConfig(html: string, config: PageConfig): string {
  if (!html.includes(NO_CONFIG))
    throw new Error('the verify page has no placeholder for its settings')
  // Only a `<` could end the script element.
  const json = JSON.stringify(config).replaceAll('<', '\\u003c')
  return html.replace(NO_CONFIG, () => NO_CONFIG.replace('null', () => json))
}

/** @throws {Error} when the set-up has not built the page. */
export function readVerifyPage(config: PageConfig): BuiltPage {
  const { html, policy } = readBuilt(PAGE_FILE, 'the verify page')
  return { html: withConfig(html, config), policy: forHeader(policy, config) }
}

/** Adds the hosts that the page may connect to. */
function forHeader(policy: string, { rpc, ipfs }: PageConfig): string {
  const plain = [...rpc, ...ipfs]
    .map((url) => new URL(url).origin)
    .filter((origin) => origin.startsWith('http:'))
  // Any https host is allowed, because readers may choose their own nodes, also one on their own
  // machine.
  const connect = [
    "'self'",
    'https:',
    'http://localhost:*',
    'http://127.0.0.1:*',
    ...new Set(plain),
  ]
  return policy.replace(/connect-src [^;]*/, `connect-src ${connect.join(' ')}`)
}
