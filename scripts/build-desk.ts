// The desk as one file, dist/desk.html, and what it loads later: its texts by language,
// dist/desk-texts.json, and its reader of tables, dist/desk-reader.js. The gateway serves them. The
// set-up builds them too.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DESK_LANGUAGES } from '#desk/i18n.ts'
import { TEXTS as DESK } from '#desk/strings/all.ts'
import { DESK_FILE, DESK_READER_FILE, DESK_TEXTS_FILE } from '#modules/desk/page.ts'
import { TEXTS as WEB } from '#web/strings/all.ts'
import { buildPage, bundle, hashOf } from './page.ts'

const out = fileURLToPath(DESK_FILE)
const reader = await bundle('modules/desk/page/table/reader-worker.ts')
const page = await buildPage(
  'modules/desk/page',
  { connect: "'self'", worker: 'reader' },
  { READER_INTEGRITY: hashOf(reader) },
)
mkdirSync(dirname(out), { recursive: true })
writeFileSync(out, page)
writeFileSync(DESK_READER_FILE, reader)
const texts = DESK_LANGUAGES.map((tag) => [tag, { web: WEB[tag], desk: DESK[tag] }])
writeFileSync(DESK_TEXTS_FILE, JSON.stringify(Object.fromEntries(texts)))
console.log(out)
