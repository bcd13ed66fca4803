import { CommanderError } from 'commander'
import { CallError } from '#client/index.ts'
import { FormatError } from '#document/errors.ts'
import { ChainError } from '#verifier/errors.ts'
import type { Command } from './command.ts'
import { InputError, UsageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { printable, printableJson } from './printable.ts'

type Called = {
  /** The first argument that is not an option. */
  name: string | undefined
  command: Command | undefined
}

/**
 * Prints an error. Messages never repeat an argument that may be a publicId.
 *
 * @returns The exit code.
 */
export function explain(error: unknown, called: Called, json: boolean): number {
  // Commander ends so after help, too.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  const isUsage = error instanceof UsageError || error instanceof CommanderError
  const isTold =
    error instanceof InputError ||
    error instanceof FormatError ||
    error instanceof ChainError ||
    error instanceof CallError
  if (!isUsage && !isTold) {
    console.error(error)
    return EXIT.bug
  }
  const code = isTold ? error.code : 'usage'
  const message = isTold ? error.message : usageMessage(error, called)
  const fields =
    error instanceof FormatError ? error.fields : error instanceof CallError ? error.details : []
  if (json) console.log(printableJson({ error: { code, message, fields } }))
  else {
    const lines = [
      ...message.split('\n'),
      ...fields.map(lineOf),
      ...(isUsage ? hintFor(called) : []),
    ]
    console.error(lines.map(printable).join('\n'))
  }
  if (isUsage) return EXIT.usage
  return isWrongInput(error, called) ? EXIT.badInput : EXIT.noVerdict
}

/** Files without a document, for commands that must have one. */
const NO_DOCUMENT = ['unreadable', 'no_qr_code', 'several_qr_codes', 'no_public_id']

/** A verdict is another matter: its commands say by 2 that they have none. */
function isWrongInput(error: Error, { command }: Called): boolean {
  if (error instanceof InputError && error.code === 'bad_table') return true
  if (command?.group !== 'Issue') return false
  return (
    error instanceof FormatError ||
    (error instanceof InputError && NO_DOCUMENT.includes(error.code))
  )
}

function usageMessage({ code, message }: Error & { code?: string }, { name }: Called): string {
  if (code === 'commander.help') return 'a command is required'
  if (code !== 'commander.unknownCommand') return message.replace(/^error: /, '')
  // What is not a word may be a publicId.
  return /^[a-z-]{1,20}$/.test(name ?? '') ? message.replace(/^error: /, '') : 'unknown command'
}

function lineOf(field: object): string {
  const { field: name, check, message, code } = field as Record<string, string | undefined>
  return `  ${name ?? check ?? ''} ${message ?? code ?? ''}`
}

function hintFor({ command }: Called): string[] {
  if (!command) return ['', '"docreg --help" lists the commands.']
  const { name, args = [] } = command
  return [
    '',
    `Usage: docreg ${[name, ...args.map((arg) => arg.name), '[options]'].join(' ')}`,
    `"docreg help ${name}" explains them, with examples.`,
  ]
}
