// Compares the chain, the payloads and the database of a gateway. It changes nothing, but lets a
// gateway issue again that has lost writes, if nothing differs.
import { randomBytes } from 'node:crypto'
import { createLog } from '#base/log.ts'
import { createRpcPool } from '#chain/rpc.ts'
import { toHex } from '#document/hex.ts'
import { databaseOf } from '#parts/databases.ts'
import { openKubo } from '#parts/stores.ts'
import { readConfig } from '#settings/config.ts'
import { compare, type Tell } from './fsck/compare.ts'
import { keptOf } from './fsck/kept.ts'
import { readIssued } from './recover/issued.ts'

type Compared = Awaited<ReturnType<typeof compare>> & { lostWrites?: 'accepted' | 'not_accepted' }

/**
 * @param from The first block to search for events.
 * @returns The numbers of what was compared, and whether lost writes were accepted, if there are any.
 */
export async function fsck(from: number, tell: Tell): Promise<Compared> {
  // The secret is random, because nothing is signed or opened here.
  const unused = toHex(randomBytes(32))
  const defaults = { ISSUER_SECRET: unused, ISSUER_ID: '1' }
  const { ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL, RPC_URL } = process.env
  const hasAccount = [ISSUER_KEY, ISSUER_KEYSTORE, ISSUER_SIGNER_URL, !RPC_URL].some(Boolean)
  const config = readConfig({
    ...(RPC_URL && defaults),
    ...process.env,
    ...(!hasAccount && { ISSUER_KEY: unused }),
  })
  const { rpcTimeout } = config
  const log = createLog('silent')
  const kubo = await openKubo(config, log)
  const adapter = await databaseOf(config)
  const kept = keptOf(await adapter.openToRead(log), kubo)
  // The local chain answers while its gateway runs.
  const urls = config.rpcUrls.length > 0 ? config.rpcUrls : [`http://127.0.0.1:${config.chainPort}`]
  const rpc = createRpcPool(urls, rpcTimeout)
  try {
    const { registry, issuerId } = kept
    const issued = await readIssued({ rpc, registry, issuerId }, { from, say: () => {} })
    let differs = false
    const counts = await compare(kept, issued, (...difference) => {
      // A gateway that issues nothing pins nothing either.
      differs ||= difference[0] !== 'payload_not_pinned'
      tell(...difference)
    })
    if (!kept.acceptLoss) return counts
    if (!differs) kept.acceptLoss()
    return { ...counts, lostWrites: differs ? 'not_accepted' : 'accepted' }
  } finally {
    await kept.close()
    await rpc.close()
  }
}
