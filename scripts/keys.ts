// `npm run keys -- create|list|withdraw`: the API keys of the gateway in DATA_DIR.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openKeyFile } from '../gateway/adapters/key-file.ts'
import { readDataDir } from '../gateway/config.ts'
import { SCOPES, type Scope } from '../gateway/grant.ts'

const USAGE = `npm run keys -- create --scope <scope> [--scope <scope> …] [--tenant <name>] [--expires <ISO 8601>]
npm run keys -- list
npm run keys -- withdraw <id>

Scopes: ${SCOPES.join(', ')}; admin may do all.`

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      scope: { type: 'string', multiple: true },
      tenant: { type: 'string' },
      expires: { type: 'string' },
    },
  })
  const [command, id] = positionals
  const dataDir = readDataDir(process.env)
  if (!existsSync(dataDir)) throw new Error(`there is no ${dataDir}: set DATA_DIR to the service's`)
  const keys = openKeyFile(join(dataDir, 'keys.json'))

  if (command === 'create') {
    const created = keys.create({
      scopes: parseScopes(values.scope ?? []),
      ...(values.tenant && { tenant: values.tenant }),
      ...(values.expires && { expiresAt: parseTime(values.expires) }),
    })
    console.error(`id ${created.id}; the key is shown this once:`)
    console.log(created.key)
  } else if (command === 'list') {
    for (const key of keys.list())
      console.log(
        [
          key.id,
          key.tenant,
          key.scopes.join(','),
          key.createdAt,
          key.expiresAt ?? 'never expires',
        ].join('\t'),
      )
  } else if (command === 'withdraw' && id) {
    if (!keys.withdraw(id)) throw new Error(`unknown key ${id}`)
    console.error(`withdrawn: ${id}`)
  } else throw new Error(USAGE)
}

function parseScopes(given: string[]): Scope[] {
  const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text)
  const scopes = given.filter(isScope)
  if (given.length === 0 || scopes.length < given.length)
    throw new Error(`--scope must be of ${SCOPES.join(', ')}`)
  return scopes
}

function parseTime(text: string): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new Error('--expires must be an ISO 8601 time')
  return new Date(time).toISOString()
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
