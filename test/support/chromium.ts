import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'

const PLACES = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
const path = PLACES.find((place) => place !== '' && existsSync(place))
const lacking = path === undefined && process.env.CI !== 'true'

if (lacking)
  console.warn(
    'skipped: the tests of the page need Chromium or Chrome; install one, or set CHROMIUM_PATH',
  )

/** Tests in a real browser: skipped, and said so, where there is none; with CI=true that is a failure. */
export const describeInBrowser = describe.skipIf(lacking)

/** @param args More of Chromium's command line. */
export function launchChromium(args: string[] = []): Promise<Browser> {
  if (path === undefined) throw new Error('there is no Chromium')
  return chromium.launch({
    executablePath: path,
    args: [
      '--disable-dev-shm-usage',
      // No test asks anybody outside this machine.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      ...args,
    ],
  })
}
