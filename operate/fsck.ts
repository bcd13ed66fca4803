/**
 * `npm run fsck [-- --json]`: compares chain, store and database of a gateway, with the settings of
 * `npm start`, and says what differs. It changes nothing, and may run beside the service.
 */

import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createLog } from '#base/log.ts'
import { createRpcPool } from '#chain/rpc.ts'
import { wholeNumber } from '#cli/sources.ts'
import { toHex } from '#document/hex.ts'
import { databaseOf } from '#parts/databases.ts'
import { openKubo } from '#parts/stores.ts'
import { readConfig } from '#settings/config.ts'
import { runCommand } from './command.ts'
import { compare, DIFFERENCES, type Difference } from './fsck/compare.ts'
import { keptOf } from './fsck/kept.ts'
import { readIssued } from './recover/issued.ts'

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { json: { type: 'boolean' }, from: { type: 'string' } },
  })
  // Nothing is signed or opened here.
  const unused = toHex(randomBytes(32))
  const defaults = { ISSUER_SECRET: unused, ISSUER_ID: '1' }
  const { ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL, RPC_URL } = process.env
  const hasAccount = [ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL, !RPC_URL].some(Boolean)
  const config = readConfig({
    ...{ ...(RPC_URL && defaults), ...process.env, ...(!hasAccount && { ISSUER_KEY: unused }) },
  })
  const from = wholeNumber('from', values.from ?? '0')
  const { rpcTimeout } = config
  const log = createLog('silent')
  const kubo = await openKubo(config, log)
  const kept = keptOf(await databaseOf(config).openToRead(log), kubo ? [kubo] : [])
  // The local chain answers while its service runs.
  const urls = config.rpcUrls.length > 0 ? config.rpcUrls : [`http://127.0.0.1:${config.chainPort}`]
  const rpc = createRpcPool(urls, rpcTimeout)
  const found: { code: Difference; about: string }[] = []
  try {
    const { registry, issuerId } = kept
    const issued = await readIssued({ rpc, registry, issuerId }, { from, say: () => {} })
    const counts = await compare(kept, issued, (code, about) => {
      found.push({ code, about })
      if (!values.json) console.log(`${code.padEnd(22)}  ${about}`)
    })
    if (values.json) console.log(JSON.stringify({ ...counts, differences: found }, null, 2))
    else {
      console.log(
        `compared ${counts.documents} documents, ${counts.batches} batches; ${counts.erased} are erased`,
      )
      for (const code of new Set(found.map((one) => one.code)))
        console.log(`${code}: ${DIFFERENCES[code]}`)
      console.log(found.length === 0 ? 'nothing differs' : `${found.length} differences`)
    }
    return found.length === 0 ? 0 : 1
  } finally {
    await kept.close()
    await rpc.close()
  }
}

await runCommand('compare', main, 2)
