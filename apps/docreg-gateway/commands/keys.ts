import {
  type Command,
  type CommandInput,
  defineCommand,
  type Options,
  type Values,
} from '#cli/command.ts'
import { EXIT } from '#cli/exit-codes.ts'
import { printableJson } from '#cli/printable.ts'
import type { Terminal } from '#cli/terminal.ts'
import { SCOPES } from '#keys/grant.ts'
import { createKeys, type Keys, type MadeKey } from '#keys/keys.ts'
import type { ApiKey } from '#keys/ports.ts'
import { keyChanges, keySettings, rotation } from '#keys/settings.ts'
import { assertScopesUsed, openKeysOfSettings, parseOptions } from '../keys-of-settings.ts'

const SETTINGS = {
  scope: {
    value: '<scope>',
    multiple: true,
    about: `one of ${SCOPES.join(', ')}; admin may do all`,
  },
  label: { value: '<text>', about: 'what the key is for' },
  category: {
    value: '<category>',
    multiple: true,
    about: 'the only categories that the key may issue',
  },
  'rate-limit': { value: '<number>', about: 'requests per second' },
  expires: { value: '<time>', about: 'a date or an RFC 3339 time' },
} as const satisfies Options
const REMOVALS = {
  'no-label': { about: 'remove the label' },
  'no-category': { about: 'allow all categories' },
  'no-rate-limit': { about: 'use the default limit' },
  'no-expires': { about: 'never expire' },
} as const satisfies Options
const ID = [{ name: '<id>', about: 'the id of the key' }]
const DONE = '0 done, 2 could not be done'

/** The option for each setting. */
const OPTION_OF: Record<string, string> = {
  scopes: 'scope',
  categories: 'category',
  rateLimit: 'rate-limit',
  expiresAt: 'expires',
  overlapSeconds: 'overlap',
}

export const keysCommands: readonly Command[] = [
  defineCommand({
    name: 'keys create',
    group: 'Run',
    summary: 'Create an API key, and show it this once',
    options: {
      ...SETTINGS,
      tenant: { value: '<name>', about: 'the tenant whose documents the key can use' },
    },
    examples: [
      ['A key for a front desk', 'docreg-gateway keys create --scope verify --label "Front desk"'],
    ],
    exitCodes: DONE,
    run: withKeys(async (keys, { values }, terminal) => {
      const settings = parseOptions(keySettings, settingsOf(values), OPTION_OF)
      await assertScopesUsed(settings)
      showMade(await keys.create(settings), values, terminal)
    }),
  }),
  defineCommand({
    name: 'keys list',
    group: 'Run',
    summary: 'List the API keys, without their secrets',
    options: {},
    examples: [['All keys', 'docreg-gateway keys list']],
    exitCodes: DONE,
    run: withKeys(async (keys, { values }, { write }) => {
      const all = await keys.list()
      if (values.json) write(printableJson(all.map(shown)))
      else for (const key of all) write(lineOf(key))
    }),
  }),
  defineCommand({
    name: 'keys rotate',
    group: 'Run',
    summary: 'Replace an API key with one that has the same settings',
    args: ID,
    options: {
      overlap: { value: '<seconds>', about: 'how long the old key still works; default a day' },
      expires: SETTINGS.expires,
    },
    examples: [['The old key ends in an hour', 'docreg-gateway keys rotate "$id" --overlap 3600']],
    exitCodes: DONE,
    run: withKeys(async (keys, { args: [id = ''], values }, terminal) => {
      const { overlap, expires } = values
      const sent = {
        ...(overlap !== undefined && { overlapSeconds: numberOf(overlap) }),
        ...(expires !== undefined && { expiresAt: instantOf(expires) }),
      }
      const options = parseOptions(rotation, sent, OPTION_OF)
      showMade(await keys.rotate(id, options), values, terminal)
      terminal.note(`the key ${id} stops working in ${options.overlapSeconds} s`)
    }),
  }),
  defineCommand({
    name: 'keys change',
    group: 'Run',
    summary: 'Change the settings of an API key; each option replaces the present one',
    args: ID,
    options: { ...SETTINGS, ...REMOVALS },
    examples: [['Without its label', 'docreg-gateway keys change "$id" --no-label']],
    exitCodes: DONE,
    run: withKeys(async (keys, { args: [id = ''], values }, { write }) => {
      const changes = parseOptions(keyChanges, changesOf(values), OPTION_OF)
      await assertScopesUsed(changes)
      const key = await keys.change(id, changes)
      write(values.json ? printableJson(shown(key)) : lineOf(key))
    }),
  }),
  defineCommand({
    name: 'keys revoke',
    group: 'Run',
    summary: 'End an API key at once',
    args: ID,
    options: {},
    examples: [['A stolen key', 'docreg-gateway keys revoke "$id"']],
    exitCodes: DONE,
    run: withKeys(async (keys, { args: [id = ''], values }, { write, note }) => {
      await keys.revoke(id)
      if (values.json) write(printableJson({ id, revoked: true }))
      else note(`revoked: ${id}`)
    }),
  }),
]

/** @returns A command that works with the keys of the settings. */
function withKeys<O extends Options>(
  work: (keys: Keys, input: CommandInput<O>, terminal: Terminal) => Promise<void>,
): Command<O>['run'] {
  return async (input, terminal) => {
    const { store, close } = await openKeysOfSettings()
    try {
      await work(createKeys(store), input, terminal)
      return EXIT.ok
    } finally {
      await close()
    }
  }
}

function showMade(
  { key, secret }: MadeKey,
  { json }: { json?: boolean },
  { write, note }: Terminal,
): void {
  if (!json) note(`id ${key.id}; the key is shown this once:`)
  write(json ? printableJson({ ...shown(key), key: secret }) : secret)
}

/** The digest is omitted, because nobody can use it. */
function shown({ digest: _, ...key }: ApiKey): object {
  return key
}

function lineOf(key: ApiKey): string {
  return [
    key.id,
    key.tenant,
    key.scopes.join(','),
    key.categories?.join(',') ?? 'all categories',
    key.rateLimit === undefined ? 'default limit' : `${key.rateLimit}/s`,
    key.createdAt,
    key.expiresAt ?? 'never expires',
    key.lastUsedAt ?? 'never used',
    key.replacedBy === undefined ? '' : `replaced by ${key.replacedBy}`,
    key.label ?? '',
  ].join('\t')
}

function settingsOf(values: Values<typeof SETTINGS> & { tenant?: string }): object {
  return {
    ...(values.scope && { scopes: values.scope }),
    ...(values.tenant !== undefined && { tenant: values.tenant }),
    ...(values.label !== undefined && { label: values.label }),
    ...(values.category && { categories: values.category }),
    ...(values['rate-limit'] !== undefined && { rateLimit: numberOf(values['rate-limit']) }),
    ...(values.expires !== undefined && { expiresAt: instantOf(values.expires) }),
  }
}

function changesOf(values: Values<typeof SETTINGS & typeof REMOVALS>): object {
  return {
    ...settingsOf(values),
    ...(values['no-label'] && { label: null }),
    ...(values['no-category'] && { categories: null }),
    ...(values['no-rate-limit'] && { rateLimit: null }),
    ...(values['no-expires'] && { expiresAt: null }),
  }
}

const numberOf = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : text)

/** A date stands for its first instant in UTC. */
const instantOf = (text: string) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
