import tab from '@bomb.sh/tab/commander'
import { Argument, Option, Command as Parser } from 'commander'
import { COMMON_OPTIONS, type Command, type CommandInput, type Options } from './command.ts'
import { environmentName, settingsOf } from './config-file.ts'

/** `docreg` or `docreg-gateway`, as data. */
export type Program = {
  name: string
  about: string
  /** The last lines of help. */
  overview: readonly string[]
  commands: readonly Command[]
  /** A description for each first word of names with spaces, such as `keys` of `keys create`. */
  parents?: Readonly<Record<string, string>>
  /**
   * @param command The name of the command, if known.
   * @returns How to report an error of this program that is not a bug.
   */
  tell?(error: unknown, command: string | undefined): Told | undefined
}

/** An error as users see it, with a stable code. The default exit code is 2. */
export type Told = { code: string; message: string; exitCode?: number }

type Parsed = { command: Command } & Pick<CommandInput<Options>, 'args' | 'flags'>

const WIDTH = 100

/**
 * The command line of all commands.
 *
 * @returns A function that parses arguments (without Node and script). It throws Commander's
 * `CommanderError`, also after it has printed help.
 */
export function createParser(
  program: Program,
  version: string,
): (argv: readonly string[]) => Parsed | undefined {
  const { name, about, overview, commands, parents = {} } = program
  /** The rest of a description after its first line, which completion shows. */
  const paragraphs = new Map<Parser, readonly string[]>()
  const root = new Parser(name)
    .description(about)
    .version(version)
    .helpOption('-h, --help', 'show help')
    .addHelpCommand(new Parser('help').argument('[command]').description('Show help for a command'))
    .configureHelp({
      helpWidth: WIDTH,
      subcommandTerm: (command) => command.name(),
      commandDescription: (command) =>
        [command.description(), ...(paragraphs.get(command) ?? [])].join('\n\n'),
    })
    // Errors are printed by the caller.
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .addHelpText('after', afterAllHelp(name, overview))
  let parsed: Parsed | undefined
  const parsers = new Map([['', root]])
  const add = (path: string, group: string, parser: Parser): void => {
    const words = path.split(' ')
    const before = words.slice(0, -1).join(' ')
    if (!parsers.has(before))
      add(before, group, new Parser(words.at(-2)).description(parents[before] ?? ''))
    const parent = parsers.get(before) ?? root
    parent.addCommand(parser.copyInheritedSettings(parent))
    if (parent === root) parser.helpGroup(`${group}:`)
    parsers.set(path, parser)
  }
  const all = settingsOf(commands).length > 0 ? COMMON_OPTIONS : { json: COMMON_OPTIONS.json }
  for (const command of commands) {
    const parser = parserOf(command, { ...command.options, ...all }, (found) => {
      parsed = found
    })
    paragraphs.set(parser, command.about ?? [])
    add(command.name, command.group, parser)
  }
  tab(root, { completionCommandName: 'completion' })
  for (const command of root.commands) if (!command.helpGroup()) command.helpGroup('Help:')
  return (argv) => {
    root.parse(argv, { from: 'user' })
    return parsed
  }
}

const afterAllHelp = (name: string, overview: readonly string[]) =>
  [
    '',
    ...overview,
    '',
    `"${name} help <command>" explains a command with examples.`,
    `Completion: source <(${name} completion bash), and likewise for zsh, fish and powershell.`,
  ].join('\n')

function parserOf(command: Command, options: Options, found: (parsed: Parsed) => void): Parser {
  const { name, summary, args = [] } = command
  const parser = new Parser(name.split(' ').at(-1))
    .summary(summary)
    .description(`${summary}.`)
    .addHelpText('after', afterHelp(command))
  for (const { name, about, choices } of args) {
    const argument = new Argument(name, about)
    parser.addArgument(choices ? argument.choices(choices) : argument)
  }
  for (const [name, option] of Object.entries(options)) parser.addOption(optionOf(name, option))
  return parser.action(() =>
    found({ command, args: parser.args, flags: flagsOf(options, parser.opts()) }),
  )
}

function optionOf(name: string, { value, multiple, about, choices, isSetting }: Options[string]) {
  const notes = [
    ...(multiple ? ['repeatable'] : []),
    ...(isSetting ? [environmentName(name)] : []),
  ].join('; ')
  const option = new Option(
    `--${name}${value ? ` ${value}` : ''}`,
    `${about}${notes && ` (${notes})`}`,
  )
  if (choices) option.choices(choices)
  // Commander's own repeatable options would swallow the arguments that follow. `--no-…` sets
  // false.
  if (multiple) option.argParser((text, before?: string[] | false) => [...(before || []), text])
  return option
}

/** Commander parses `--no-identity` as `identity: false`, and names options in camel case. */
function flagsOf(options: Options, parsed: Record<string, unknown>): Record<string, never> {
  const flags = Object.keys(options).flatMap((name) => {
    const key = new Option(`--${name}`).attributeName()
    const value = parsed[key]
    if (name.startsWith('no-')) return value === false ? [[name, true]] : []
    return value === undefined || value === false ? [] : [[name, value]]
  })
  return Object.fromEntries(flags)
}

function afterHelp({ examples, exitCodes }: Command): string {
  const shown = examples.flatMap(([purpose, command]) => ['', `  ${purpose}:`, `  $ ${command}`])
  return ['', 'Examples:', ...shown.slice(1), '', `Exit code: ${exitCodes}, 64 wrong usage.`].join(
    '\n',
  )
}
