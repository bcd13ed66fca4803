// Writes the address of the repository, which stands in package.json, into README.md.
import { readFileSync, writeFileSync } from 'node:fs'
import manifest from '../package.json' with { type: 'json' }

const README = new URL('../README.md', import.meta.url)
const address = manifest.repository.url.replace(/^git\+/, '')
writeFileSync(README, readFileSync(README, 'utf8').replace(/(git clone) \S+/, `$1 ${address}`))
