// Prints printed.pdf: a certificate of a small template, with the bundle of bundle.json.
// `node scripts/run.mjs tools/corpus/vectors/pdfs/print.ts`, then save.py.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '#certificates/engine.ts'
import { packCache } from '#certificates/packs.ts'
import { printCertificate } from '#certificates/print.ts'
import { readSettings } from '#certificates/settings.ts'
import { copyTemplate } from '#certificates/template.ts'
import type { RegistryId } from '#document/registry-id.ts'
import valid from './bundle.json' with { type: 'json' }

const template = join(mkdtempSync(join(tmpdir(), 'pdfs-')), 'small')
copyTemplate('letter', template)
const layout = '#let certificate(it) = { heading(level: 1, outlined: false, it.name.text) }\n'
writeFileSync(join(template, 'template.typ'), layout)
const { bundle, registry } = valid
const engine = createEngine({
  template,
  fontPaths: [],
  cache: packCache({}),
  report: () => {},
})
const pdf = await printCertificate(engine, readSettings(template), {
  document: {
    subjectName: 'Ada',
    subjectId: '1',
    category: 'letter',
    issuedAt: '2026-01-31',
    registry: registry as RegistryId,
    issuerId: 1,
  },
  documentHash: `0x${'ab'.repeat(32)}`,
  link: 'https://registry.example/verify',
  bundle: JSON.stringify(bundle),
})
writeFileSync(new URL('printed.pdf', import.meta.url), pdf)
