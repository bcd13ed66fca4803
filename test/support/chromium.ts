import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'
import { chromiumPath, headlessPath } from '#scripts/chromium-path.ts'

const lacking = chromiumPath === undefined && process.env.CI !== 'true'

if (lacking)
  console.warn(
    'skipped: tests of the page need Chromium or Chrome; install one, or set CHROMIUM_PATH',
  )

/**
 * Tests in a real browser; skipped with a printed reason if there is none, or failed with CI=true.
 */
export const describeInBrowser = describe.skipIf(lacking)

/**
 * @param args Additional options for Chromium.
 * @param isWhole Whether the test needs what the shell without windows lacks, which is a camera.
 */
export function launchChromium(args: string[] = [], isWhole = false): Promise<Browser> {
  const executablePath = isWhole ? chromiumPath : headlessPath
  if (executablePath === undefined) throw new Error('Chromium is missing')
  return chromium.launch({
    executablePath,
    args: [
      '--disable-dev-shm-usage',
      // No test may reach another machine.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      ...args,
    ],
  })
}
