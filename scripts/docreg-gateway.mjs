#!/usr/bin/env node
// `npx docreg-gateway …` in a checkout: the set-up, then the command on the pinned Node.
import { fileURLToPath } from 'node:url'
import { START_FLAGS } from './start-flags.mjs'

const flags = process.argv[2] === 'start' ? START_FLAGS : []
const program = fileURLToPath(new URL('../apps/docreg-gateway/docreg-gateway.ts', import.meta.url))
process.argv.splice(2, 0, ...flags, program)
await import('./run.mjs')
