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

/** `undefined` where neither Chromium nor Chrome is installed. */
export const chromiumPath = PLACES.find((place) => place !== '' && existsSync(place))

/** Chromium without windows: the same engine, for a third of the processor's time. */
const SHELLS = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium-headless-shell']

/** Of the shell where it is installed and `CHROMIUM_PATH` names no browser. */
export const headlessPath = process.env.CHROMIUM_PATH
  ? chromiumPath
  : (SHELLS.find((place) => existsSync(place)) ?? chromiumPath)
