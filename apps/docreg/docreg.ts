#!/usr/bin/env node
// `docreg <command>`; commands.ts has the list of commands, and program.ts parses the arguments.
import { DOCREG } from './commands.ts'
import { runProgram } from './main.ts'

process.exitCode = await runProgram(DOCREG)
