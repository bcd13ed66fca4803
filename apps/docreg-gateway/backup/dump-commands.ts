import { createRpcPool } from '#chain/rpc.ts'
import type { Config } from '#settings/config.ts'

// PostgreSQL makes its own backups, with these commands.

const DUMP = 'document-registry.dump'

/** @returns The lines to print, without a password. @param block The newest block, if known. */
export function dumpLines(
  databaseUrl: string,
  erasureList: string,
  block: number | null,
): string[] {
  const named = quoted(withoutPassword(databaseUrl))
  return [
    'DATABASE_URL is set: use the backups of PostgreSQL, which also work while gateways run.',
    '',
    `  pg_dump --dbname=${named} --format=custom --no-owner --no-privileges --no-unlogged-table-data --file=${DUMP}`,
    '',
    'It takes the password from PGPASSWORD or ~/.pgpass. Keep with the dump, which has all sealed',
    `documents and no secrets: ISSUER_SECRET (all of them), and ${erasureList} (ERASURE_LIST), which`,
    'must be the newest. To restore it into a new database, and check that against the chain:',
    '',
    `  pg_restore --dbname=<the new database> --exit-on-error --single-transaction --no-owner --no-privileges ${DUMP}`,
    `  DATABASE_URL=<the new database> docreg-gateway restore${block === null ? '' : ` --block ${block}`}`,
    '',
    'This command has made no backup.',
  ]
}

/** A password can also be among the parameters. */
function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.password = ''
  url.searchParams.delete('password')
  return url.href
}

/** @returns The text as one word for a shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** @returns The number of the newest block; `null` when no node answers. */
export async function newestBlock({ rpcUrls, rpcTimeout }: Config): Promise<number | null> {
  if (rpcUrls.length === 0) return null
  const rpc = createRpcPool(rpcUrls, rpcTimeout)
  try {
    return Number(await rpc.request({ method: 'eth_blockNumber' }))
  } catch {
    return null
  } finally {
    await rpc.close()
  }
}
