#!/usr/bin/env node
// `npx docreg …` in a checkout: the set-up, then the command on the pinned Node.
import { fileURLToPath } from 'node:url'

process.argv.splice(2, 0, fileURLToPath(new URL('../cli/docreg.ts', import.meta.url)))
await import('./run.mjs')
