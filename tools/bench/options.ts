import { parseArgs } from 'node:util'

type Value = number | string | boolean
/** The type of a default without its value. */
type Wide<T> = T extends number ? number : T extends string ? string : boolean

/**
 * @param defaults Of the options `--name value`, or `--name` and `--no-name` where they are boolean.
 * @returns The options, and what was `given` beside them.
 */
export function readOptions<T extends Record<string, Value>>(
  defaults: T,
): { [K in keyof T]: Wide<T[K]> } & { given: string[] } {
  const types = Object.entries(defaults).map(([name, value]) => {
    const type = typeof value === 'boolean' ? 'boolean' : 'string'
    return [name, { type }] as const
  })
  const options = Object.fromEntries(types)
  const parsed = parseArgs({ options, allowPositionals: true, allowNegative: true })
  const values: Record<string, unknown> = { ...defaults, ...parsed.values }
  for (const [name, value] of Object.entries(defaults))
    if (typeof value === 'number') values[name] = Number(values[name])
  return Object.assign(values as { [K in keyof T]: Wide<T[K]> }, { given: parsed.positionals })
}
