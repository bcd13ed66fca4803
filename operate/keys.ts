// `npm run keys -- create|list|rotate|change|revoke`: the API keys of the gateway in DATA_DIR. A
// running gateway sees every change within a second.
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { createLog } from '#base/log.ts'
import { InputError, UsageError } from '#cli/errors.ts'
import { SCOPES } from '#keys/grant.ts'
import { createKeys, type Keys, type MadeKey } from '#keys/keys.ts'
import type { ApiKey } from '#keys/ports.ts'
import { keyChanges, keySettings, rotation } from '#keys/settings.ts'
import { databaseOf } from '#parts/databases.ts'
import { readDatabaseUrl, readDataDir } from '#settings/config.ts'
import { runCommand } from './command.ts'

const USAGE = `npm run keys -- create --scope <scope> [settings] [--tenant <name>]
npm run keys -- list [--json]
npm run keys -- rotate <id> [--overlap <seconds>] [--expires <time>]
npm run keys -- change <id> [settings]
npm run keys -- revoke <id>

Settings; each replaces the present one:
  --scope <scope>        repeatable: ${SCOPES.join(', ')}; admin may do all
  --label <text>         what the key is for
  --category <category>  repeatable: the only categories that it may issue
  --rate-limit <number>  requests per second
  --expires <time>       a date, or an instant of RFC 3339
change also takes --no-label, --no-category, --no-rate-limit and --no-expires.`

const OPTIONS = {
  scope: { type: 'string', multiple: true },
  tenant: { type: 'string' },
  label: { type: 'string' },
  category: { type: 'string', multiple: true },
  'rate-limit': { type: 'string' },
  expires: { type: 'string' },
  overlap: { type: 'string' },
  json: { type: 'boolean' },
  'no-label': { type: 'boolean' },
  'no-category': { type: 'boolean' },
  'no-rate-limit': { type: 'boolean' },
  'no-expires': { type: 'boolean' },
} as const
type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

/** The option for each setting. */
const OPTION_OF: Record<string, string> = {
  scopes: 'scope',
  categories: 'category',
  rateLimit: 'rate-limit',
  expiresAt: 'expires',
  overlapSeconds: 'overlap',
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS })
  const [command = '', id, ...more] = positionals
  const dataDir = readDataDir(process.env)
  const databaseUrl = readDatabaseUrl(process.env)
  if (databaseUrl === undefined && !existsSync(dataDir))
    throw new InputError('not_possible', `there is no ${dataDir}: set DATA_DIR to the service's`)
  const run = COMMANDS[command]
  if (!run || more.length > 0 || run.needsId !== (id !== undefined)) throw new UsageError(USAGE)
  const keys = await databaseOf({
    ...{ dataDir, ...(databaseUrl !== undefined && { databaseUrl }) },
  }).openKeys(createLog('warn'))
  try {
    await run.with(createKeys(keys.store), values, id ?? '')
  } finally {
    await keys.close()
  }
}

type Command = {
  needsId: boolean
  with: (keys: Keys, values: Values, id: string) => Promise<void>
}

const COMMANDS: Record<string, Command> = {
  create: {
    needsId: false,
    with: async (keys, values) =>
      showMade(await keys.create(parse(keySettings, settingsOf(values)))),
  },
  list: {
    needsId: false,
    async with(keys, { json }) {
      for (const key of await keys.list()) console.log(json ? asJson(key) : asLine(key))
    },
  },
  rotate: {
    needsId: true,
    async with(keys, values, id) {
      const options = parse(rotation, rotationOf(values))
      showMade(await keys.rotate(id, options))
      console.error(`the key ${id} ends in ${options.overlapSeconds} s`)
    },
  },
  change: {
    needsId: true,
    async with(keys, values, id) {
      console.log(asLine(await keys.change(id, parse(keyChanges, changesOf(values)))))
    },
  },
  revoke: {
    needsId: true,
    async with(keys, _, id) {
      await keys.revoke(id)
      console.error(`revoked: ${id}`)
    },
  },
}

function showMade({ key, secret }: MadeKey): void {
  console.error(`id ${key.id}; the key is shown this once:`)
  console.log(secret)
}

/** A key without its digest, which is of use to nobody. */
function asJson({ digest: _, ...key }: ApiKey): string {
  return JSON.stringify(key)
}

function asLine(key: ApiKey): string {
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

function settingsOf(values: Values): object {
  return {
    ...(values.scope && { scopes: values.scope }),
    ...(values.tenant !== undefined && { tenant: values.tenant }),
    ...(values.label !== undefined && { label: values.label }),
    ...(values.category && { categories: values.category }),
    ...(values['rate-limit'] !== undefined && { rateLimit: numberOf(values['rate-limit']) }),
    ...(values.expires !== undefined && { expiresAt: instantOf(values.expires) }),
  }
}

function changesOf(values: Values): object {
  return {
    ...settingsOf(values),
    ...(values['no-label'] && { label: null }),
    ...(values['no-category'] && { categories: null }),
    ...(values['no-rate-limit'] && { rateLimit: null }),
    ...(values['no-expires'] && { expiresAt: null }),
  }
}

function rotationOf(values: Values): object {
  const { overlap, expires, ...others } = values
  return {
    ...settingsOf(others),
    ...(overlap !== undefined && { overlapSeconds: numberOf(overlap) }),
    ...(expires !== undefined && { expiresAt: instantOf(expires) }),
  }
}

const numberOf = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : text)

/** A date is its first instant, UTC. */
const instantOf = (text: string) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)

/** @throws {Error} naming every bad option. */
function parse<T>(schema: v.GenericSchema<unknown, T>, settings: object): T {
  const result = v.safeParse(schema, settings)
  if (result.success) return result.output
  const lines = result.issues.map((issue) => {
    const [first = ''] = (v.getDotPath(issue) ?? '').split('.')
    const message = /Expected never/.test(issue.message)
      ? 'does not belong to this command'
      : issue.type === 'strict_object'
        ? 'is required'
        : issue.message
    return `--${OPTION_OF[first] ?? first} ${message}`
  })
  throw new UsageError([...new Set(lines)].join('\n'))
}

await runCommand('change the keys', main)
