#!/usr/bin/env node
// `docreg <command>`: the verifier as a command.
import { styleText } from 'node:util'
import { FormatError } from '../document/errors.ts'
import { InputError, UsageError } from './errors.ts'
import { printable, printableJson } from './printable.ts'
import { type Terminal, VERIFY_USAGE, verifyCommand } from './verify.ts'

const COMMANDS: Record<
  string,
  { usage: string; run(args: string[], terminal: Terminal): Promise<number> }
> = {
  verify: { usage: VERIFY_USAGE, run: verifyCommand },
}
const NO_VERDICT = 2
const WRONG_USAGE = 64
/** `EX_SOFTWARE`. Node's own code for it is 1, which here means "not valid". */
const BUG = 70

const { stdout } = process
const coloured = stdout.isTTY && stdout.hasColors()
const terminal: Terminal = {
  write: (text) => void stdout.write(`${text}\n`),
  paint: (colour, text) => (coloured ? styleText(colour, text) : text),
}

async function main([name, ...args]: string[]): Promise<number> {
  const command = COMMANDS[name ?? '']
  const usage = command
    ? command.usage
    : Object.values(COMMANDS)
        .map((c) => c.usage)
        .join('\n\n')
  if (name === '--help' || (command && args.includes('--help'))) {
    terminal.write(usage)
    return 0
  }
  try {
    if (!command) throw new UsageError('a command is required: verify')
    return await command.run(args, terminal)
  } catch (error) {
    return explain(error, usage, args.includes('--json'))
  }
}

/** Messages never hold what was given where a publicId may stand. */
function explain(error: unknown, usage: string, json: boolean): number {
  if (error instanceof UsageError || isParseArgsError(error)) {
    console.error(`${printable(error.message)}\n\n${usage}`)
    return WRONG_USAGE
  }
  if (error instanceof InputError || error instanceof FormatError) {
    const { code, message } = error
    if (json) terminal.write(printableJson({ error: { code, message } }))
    else console.error(printable(message))
    return NO_VERDICT
  }
  console.error(error)
  return BUG
}

function isParseArgsError(error: unknown): error is Error {
  return (
    error instanceof TypeError &&
    'code' in error &&
    String(error.code).startsWith('ERR_PARSE_ARGS')
  )
}

process.on('uncaughtException', (error) => {
  console.error(error)
  process.exit(BUG)
})
process.exitCode = await main(process.argv.slice(2))
