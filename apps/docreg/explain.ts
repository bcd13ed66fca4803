import { CommanderError } from 'commander'
import { CallError } from '#client/index.ts'
import { FormatError } from '#document/errors.ts'
import { ChainError } from '#verifier/errors.ts'
import type { Command } from './command.ts'
import { InputError, UsageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { printable, printableJson } from './printable.ts'
import type { Program, Told } from './program.ts'

type Called = {
  program: Program
  command: Command | undefined
}

/**
 * Prints an error. Messages never repeat an argument that may be a publicId.
 *
 * @returns The exit code.
 */
export function explain(error: unknown, program: Program, argv: readonly string[]): number {
  // Commander also ends this way after help.
  if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
  const called = calledBy(program, argv)
  const isUsage = error instanceof UsageError || error instanceof CommanderError
  const told: Told | undefined = isUsage
    ? { code: 'usage', message: usageMessage(error) }
    : (program.tell?.(error, called.command?.name) ?? toldOf(error))
  if (!told) {
    console.error(error)
    return EXIT.bug
  }
  const { code, message } = told
  const fields =
    error instanceof FormatError ? error.fields : error instanceof CallError ? error.details : []
  if (argv.includes('--json')) console.log(printableJson({ error: { code, message, fields } }))
  else {
    const lines = [
      ...message.split('\n'),
      ...fields.map(lineOf),
      ...(isUsage ? hintFor(called) : []),
    ]
    console.error(lines.map(printable).join('\n'))
  }
  if (isUsage) return EXIT.usage
  return isWrongInput(error, called) ? EXIT.badInput : (told.exitCode ?? EXIT.failed)
}

function calledBy(program: Program, argv: readonly string[]): Called {
  const words = argv.filter((arg) => !arg.startsWith('-'))
  const command = program.commands.find(({ name }) =>
    name.split(' ').every((word, i) => word === words[i]),
  )
  return { program, command }
}

function toldOf(error: unknown): Told | undefined {
  const isTold =
    error instanceof InputError ||
    error instanceof FormatError ||
    error instanceof ChainError ||
    error instanceof CallError
  return isTold ? error : undefined
}

/** Errors of files without a document, for commands that must have one. */
const NO_DOCUMENT = [
  'unreadable',
  'no_qr_code',
  'several_qr_codes',
  'several_public_ids',
  'no_public_id',
]

/** Commands with a verdict use 2 to say that they have none. */
function isWrongInput(error: unknown, { command }: Called): boolean {
  if (error instanceof InputError && error.code === 'bad_table') return true
  if (command?.group !== 'Issue') return false
  return (
    error instanceof FormatError ||
    (error instanceof InputError && NO_DOCUMENT.includes(error.code))
  )
}

function usageMessage({ code, message }: Error & { code?: string }): string {
  if (code === 'commander.help') return 'a command is required'
  // Text that is not a plain word may be a publicId.
  const isNamed = code !== 'commander.unknownCommand' || /command '[a-z-]{1,20}'/.test(message)
  return isNamed ? message.replace(/^error: /, '') : 'unknown command'
}

function lineOf(field: object): string {
  const { field: name, check, message, code } = field as Record<string, string | undefined>
  return `  ${name ?? check ?? ''} ${message ?? code ?? ''}`
}

function hintFor({ program, command }: Called): string[] {
  if (!command) return ['', `"${program.name} --help" lists the commands.`]
  const { name, args = [] } = command
  const usage = [name, ...args.map((arg) => arg.name), '[options]'].join(' ')
  return [
    '',
    `Usage: ${program.name} ${usage}`,
    `"${program.name} ${name.replace(/\S+$/, 'help $&')}" explains them, with examples.`,
  ]
}
