#!/usr/bin/env node
// `npx docreg …` in a checkout: the set-up, then the command on the pinned Node. An audit makes much
// short-lived garbage, which Node would let grow by a hundred MiB before it collects it.
import { fileURLToPath } from 'node:url'

process.argv.splice(
  2,
  0,
  '--max-semi-space-size=4',
  fileURLToPath(new URL('../apps/docreg/docreg.ts', import.meta.url)),
)
await import('./run.mjs')
