// The desk as one file, dist/desk.html, which the gateway serves. The set-up builds it too.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DESK_FILE } from '#http/pages/desk-page.ts'
import { buildPage } from './page.ts'

const out = fileURLToPath(DESK_FILE)
const page = await buildPage('desk', "'self'")
mkdirSync(dirname(out), { recursive: true })
writeFileSync(out, page)
console.log(out)
