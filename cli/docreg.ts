#!/usr/bin/env node
// `docreg <command>`: the verifier on the command line.
import { styleText } from 'node:util'
import { FormatError } from '../document/errors.ts'
import { ChainError } from '../verifier/errors.ts'
import { BUNDLE_USAGE, bundleCommand } from './bundle.ts'
import { InputError, UsageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { IDENTITY_USAGE, identityCommand } from './identity.ts'
import { LIST_USAGE, listCommand } from './list.ts'
import { PRESENT_USAGE, presentCommand } from './present.ts'
import { printable, printableJson } from './printable.ts'
import { RECOUNT_USAGE, recountCommand } from './recount.ts'
import type { Terminal } from './terminal.ts'
import { VERIFY_USAGE, verifyCommand } from './verify.ts'

const COMMANDS: Record<
  string,
  { usage: string; run(args: string[], terminal: Terminal): Promise<number> }
> = {
  verify: { usage: VERIFY_USAGE, run: verifyCommand },
  bundle: { usage: BUNDLE_USAGE, run: bundleCommand },
  present: { usage: PRESENT_USAGE, run: presentCommand },
  list: { usage: LIST_USAGE, run: listCommand },
  recount: { usage: RECOUNT_USAGE, run: recountCommand },
  identity: { usage: IDENTITY_USAGE, run: identityCommand },
}

const { stdout } = process
const coloured = stdout.isTTY && stdout.hasColors()
const terminal: Terminal = {
  write: (text) => void stdout.write(`${text}\n`),
  warn: (text) => console.error(`Warning: ${printable(text)}`),
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
    return EXIT.ok
  }
  try {
    if (!command) throw new UsageError(`a command is required: ${Object.keys(COMMANDS).join(', ')}`)
    return await command.run(args, terminal)
  } catch (error) {
    return explain(error, usage, args.includes('--json'))
  }
}

/** Messages never repeat an argument that may be a publicId. */
function explain(error: unknown, usage: string, json: boolean): number {
  if (error instanceof UsageError || isParseArgsError(error)) {
    console.error(`${printable(error.message)}\n\n${usage}`)
    return EXIT.usage
  }
  const isTold =
    error instanceof InputError || error instanceof FormatError || error instanceof ChainError
  if (!isTold) {
    console.error(error)
    return EXIT.bug
  }
  const { code, message } = error
  const fields = error instanceof FormatError ? error.fields : []
  if (json) terminal.write(printableJson({ error: { code, message, fields } }))
  else
    console.error(
      [message, ...fields.map((bad) => `  ${bad.field} ${bad.message}`)].map(printable).join('\n'),
    )
  return EXIT.noVerdict
}

function isParseArgsError(error: unknown): error is Error {
  return (
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  )
}

process.on('uncaughtException', (error) => {
  console.error(error)
  process.exit(EXIT.bug)
})
// The output may be closed early; the exit code still counts.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
process.exitCode = await main(process.argv.slice(2))
