#!/usr/bin/env node
// `docreg <command>`: see commands.ts for what there is, and program.ts for how it is parsed.
import { DOCREG } from './commands.ts'
import { runProgram } from './main.ts'

process.exitCode = await runProgram(DOCREG)
