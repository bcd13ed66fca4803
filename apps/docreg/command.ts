import type { Terminal } from './terminal.ts'

/** An option of a command. */
export type OptionSpec = {
  /** The placeholder of its value in help, such as `<url>`; absent = a switch without a value. */
  value?: `<${string}>`
  multiple?: true
  /** The only values that it accepts. */
  choices?: readonly string[]
  about: string
  /**
   * Whether it can be set once for all commands: with the flag, or the environment variable
   * `DOCREG_<NAME>`, or in `docreg.config.json`, there in camel case.
   */
  isSetting?: true
}

export type Options = Record<string, OptionSpec>

/** The values of options by name; absent = not set. */
export type Values<O extends Options> = {
  [K in keyof O]?: O[K] extends { value: string }
    ? O[K] extends { multiple: true }
      ? string[]
      : O[K] extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string
    : boolean
}

/** An argument in the notation of Commander: `<file>` is required, `[file]` is optional. */
export type ArgumentSpec = { name: string; about: string; choices?: readonly string[] }

/** The options that every command has besides its own. */
export type CommonOptions = typeof COMMON_OPTIONS
export const COMMON_OPTIONS = {
  json: { about: 'print JSON, also for errors' },
  config: {
    value: '<file>',
    about:
      'read settings from this file; default docreg.config.json in ~/.config/docreg/, or in data/ of a checkout',
  },
} as const satisfies Options

export type CommandInput<O extends Options> = {
  args: string[]
  /** The values from the command line, the environment and the configuration, in this order. */
  values: Values<O & CommonOptions>
  /** Only the values from the command line, for rules on which options exclude each other. */
  flags: Values<O & CommonOptions>
}

/** The headings of `--help`. */
export type Group = 'Issue' | 'Verify' | 'Audit' | 'Operate' | 'Help' | 'Run' | 'Back up' | 'Repair'

/** A command as data, from which help, completion and the parsing of options are made. */
export type Command<O extends Options = Options> = {
  /** The name, which can have several words, such as `keys create`. */
  name: string
  group: Group
  /** One line for the list of commands that says what it does, as an imperative. */
  summary: string
  /** Further paragraphs of help. */
  about?: readonly string[]
  args?: readonly ArgumentSpec[]
  options: O
  /** Commands that can be run as they are, each with its purpose. */
  examples: readonly (readonly [purpose: string, command: string])[]
  /** Such as `0 valid, 1 not valid, …`; 64 (wrong usage) is added. */
  exitCodes: string
  /** @returns The exit code, one of `EXIT`. */
  run(input: CommandInput<O>, terminal: Terminal): Promise<number>
}

/** Checks the types of a command against its own options. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command as unknown as Command
}
