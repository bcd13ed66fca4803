import { readFileSync } from 'node:fs'

const MANIFEST = new URL('../../../package.json', import.meta.url)

/** The version of this service, as in package.json. */
export const VERSION: string = JSON.parse(readFileSync(MANIFEST, 'utf8')).version
