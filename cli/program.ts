import tab from '@bomb.sh/tab/commander'
import { Argument, Option, Command as Parser } from 'commander'
import { COMMON_OPTIONS, type Command, type CommandInput, type Options } from './command.ts'
import { environmentName } from './config-file.ts'

type Parsed = { command: Command } & Pick<CommandInput<Options>, 'args' | 'flags'>

const WIDTH = 100

/**
 * The command line of all commands.
 *
 * @returns A function that parses arguments (without Node and script); it throws Commander's
 * `CommanderError`, also after it has printed help.
 */
export function createProgram(
  commands: readonly Command[],
  version: string,
): (argv: readonly string[]) => Parsed | undefined {
  const program = new Parser('docreg')
    .description('Issues, verifies and audits documents of a document-registry.')
    .version(version)
    .helpOption('-h, --help', 'show help')
    .addHelpCommand(new Parser('help').argument('[command]').description('Show help for a command'))
    .configureHelp({ helpWidth: WIDTH, subcommandTerm: (command) => command.name() })
    // Errors are printed by the caller.
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .addHelpText('after', OVERVIEW)
  let parsed: Parsed | undefined
  for (const command of commands)
    program.addCommand(
      parserOf(command, (found) => {
        parsed = found
      }).copyInheritedSettings(program),
    )
  tab(program, { completionCommandName: 'completion' })
  for (const command of program.commands) if (!command.helpGroup()) command.helpGroup('Help:')
  return (argv) => {
    program.parse(argv, { from: 'user' })
    return parsed
  }
}

const OVERVIEW = `
Try it, in a checkout whose \`npm start\` runs in another terminal:
  $ docreg verify document.txt

"docreg help <command>" explains a command with examples.
Completion: source <(docreg completion bash), and likewise for zsh, fish and powershell.`

function parserOf(command: Command, found: (parsed: Parsed) => void): Parser {
  const { name, group, summary, about = [], args = [], options } = command
  const parser = new Parser(name)
    .summary(summary)
    .description([`${summary}.`, ...about].join('\n\n'))
    .helpGroup(`${group}:`)
    .addHelpText('after', afterHelp(command))
  for (const { name, about, choices } of args) {
    const argument = new Argument(name, about)
    parser.addArgument(choices ? argument.choices(choices) : argument)
  }
  const all: Options = { ...options, ...COMMON_OPTIONS }
  for (const [name, option] of Object.entries(all)) parser.addOption(optionOf(name, option))
  return parser.action(() =>
    found({ command, args: parser.args, flags: flagsOf(all, parser.opts()) }),
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
  // Commander's own repeatable options would swallow the arguments that follow.
  if (multiple) option.argParser((text, before: string[] = []) => [...before, text])
  return option
}

/** Commander reads `--no-identity` as `identity: false`, and names options in camel case. */
function flagsOf(options: Options, parsed: Record<string, unknown>): Record<string, never> {
  const flags = Object.keys(options).flatMap((name) => {
    const key = new Option(`--${name}`).attributeName()
    const value = name.startsWith('no-') ? parsed[key] === false || undefined : parsed[key]
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(flags)
}

function afterHelp({ examples, exitCodes }: Command): string {
  const shown = examples.flatMap(([purpose, command]) => ['', `  ${purpose}:`, `  $ ${command}`])
  return ['', 'Examples:', ...shown.slice(1), '', `Exit code: ${exitCodes}, 64 wrong usage.`].join(
    '\n',
  )
}
