#!/usr/bin/env node
// `npx docreg-gateway …` in a checkout: the set-up, then the command on the pinned Node. A gateway
// makes much garbage that lives for one request: docs/design.md has the reason for its flags.
import { fileURLToPath } from 'node:url'

const flags =
  process.argv[2] === 'start' ? ['--max-semi-space-size=24', '--heap-growing-percent=100'] : []
const program = fileURLToPath(new URL('../operate/docreg-gateway.ts', import.meta.url))
process.argv.splice(2, 0, ...flags, program)
await import('./run.mjs')
