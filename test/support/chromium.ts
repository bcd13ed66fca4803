import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'
import { chromiumPath } from '../../scripts/chromium-path.ts'

const lacking = chromiumPath === undefined && process.env.CI !== 'true'

if (lacking)
  console.warn(
    'skipped: the tests of the page need Chromium or Chrome; install one, or set CHROMIUM_PATH',
  )

/**
 * Tests in a real browser: skipped, and said so, where there is none; with CI=true that is a
 * failure.
 */
export const describeInBrowser = describe.skipIf(lacking)

/** @param args More of Chromium's command line. */
export function launchChromium(args: string[] = []): Promise<Browser> {
  if (chromiumPath === undefined) throw new Error('there is no Chromium')
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--disable-dev-shm-usage',
      // No test asks anybody outside this machine.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      ...args,
    ],
  })
}
