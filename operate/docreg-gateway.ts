#!/usr/bin/env node
// `docreg-gateway <command>`: see program.ts for what there is.
import { runProgram } from '#cli/main.ts'
import { GATEWAY } from './program.ts'

// Files created from here on are readable by this user only.
process.umask(0o077)
// Connections that a command leaves open must not keep the process.
process.exit(await runProgram(GATEWAY))
