import { existsSync } from 'node:fs'

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

/** `undefined` if neither Chromium nor Chrome is installed. */
export const chromiumPath = PLACES.find((place) => place !== '' && existsSync(place))

/** Chromium without windows is the same engine, and needs a third of the processor time. */
const SHELLS = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium-headless-shell']

/** The path of the shell if it is installed and `CHROMIUM_PATH` names no browser. */
export const headlessPath = process.env.CHROMIUM_PATH
  ? chromiumPath
  : (SHELLS.find((place) => existsSync(place)) ?? chromiumPath)
