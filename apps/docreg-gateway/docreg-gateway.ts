#!/usr/bin/env node
// `docreg-gateway <command>`; program.ts has the list of commands.
import { runProgram } from '#cli/main.ts'
import { GATEWAY } from './program.ts'

// From here on, only this user can read the files that are created.
process.umask(0o077)
// Connections that a command leaves open must not keep the process alive.
process.exit(await runProgram(GATEWAY))
