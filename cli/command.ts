import type { Terminal } from './terminal.ts'

/** An option of a command. */
export type OptionSpec = {
  /** What it takes, as help shows it: `<url>`. Absent: a switch without a value. */
  value?: `<${string}>`
  multiple?: true
  /** The only values that it takes. */
  choices?: readonly string[]
  about: string
  /**
   * It may be set once for all commands: by the flag, else by the environment variable
   * `DOCREG_<NAME>`, else by `docreg.config.json`, there in camel case.
   */
  isSetting?: true
}

export type Options = Record<string, OptionSpec>

/** The values of options, by their names. Absent: not set. */
export type Values<O extends Options> = {
  [K in keyof O]?: O[K] extends { value: string }
    ? O[K] extends { multiple: true }
      ? string[]
      : O[K] extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string
    : boolean
}

/** One argument, in the notation of Commander: `<file>` is required, `[file]` is not. */
export type ArgumentSpec = { name: string; about: string; choices?: readonly string[] }

/** What every command takes besides its own options. */
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
  /** From the command line, the environment and the configuration, in this order. */
  values: Values<O & CommonOptions>
  /** Only those of the command line: for rules on which options exclude each other. */
  flags: Values<O & CommonOptions>
}

/** One of the headings of `--help`. */
export type Group = 'Issue' | 'Verify' | 'Audit' | 'Operate' | 'Help' | 'Run' | 'Back up' | 'Repair'

/** A command, as data: help, completion and the reading of options come from here. */
export type Command<O extends Options = Options> = {
  /** May have several words: `keys create`. */
  name: string
  group: Group
  /** One line for the list of commands: what it does, as an imperative. */
  summary: string
  /** What else somebody has to know; paragraphs. */
  about?: readonly string[]
  args?: readonly ArgumentSpec[]
  options: O
  /** Commands that work as they stand, each after a line that says what for. */
  examples: readonly (readonly [purpose: string, command: string])[]
  /** `0 valid, 1 not valid, …`; 64 (wrong usage) is added. */
  exitCodes: string
  /** @returns The exit code, one of `EXIT`. */
  run(input: CommandInput<O>, terminal: Terminal): Promise<number>
}

/** Checks the types of a command against its own options. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command as unknown as Command
}
