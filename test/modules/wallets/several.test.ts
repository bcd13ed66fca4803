import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRE_AUTHORIZED } from '#modules/wallets/metadata.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { postgresFolder } from '#test/support/postgres.ts'
import {
  type SharedGateway,
  type SharedStack,
  startSharedStack,
} from '#test/support/shared-stack.ts'
import { ADA } from '#test/support/stack.ts'
import { createWallet } from '#test/support/wallet.ts'

const folder = postgresFolder()

describe.skipIf(folder === undefined)('wallets with two gateways on one database', () => {
  const key = makeCredentialKey()
  let stack: SharedStack
  let gateways: SharedGateway[]
  beforeAll(async () => {
    const settings = { CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' }
    stack = await startSharedStack(folder ?? '', 1, settings)
    gateways = [await stack.start(), await stack.start()]
  })
  afterAll(async () => {
    await stack?.remove()
    key.remove()
  })

  let turn = 0
  /** Each request goes to the other gateway, as behind a load balancer. */
  const next = () => gateways[turn++ % 2] as SharedGateway
  const balanced: typeof fetch = (url, init) =>
    fetch(String(url).replace('https://documents.example', next().url), init)
  const offer = async (terms: object) => {
    const { publicId } = (await next().call('POST', '/v1/documents', ADA)).body.data
    return (await next().call('POST', `/v1/documents/${publicId}/offer`, terms)).body.data
  }

  test('each gateway accepts the codes, tokens and nonces of the other', async () => {
    const { link } = await offer({})
    expect((await createWallet(balanced).fetch(link)).credential).toMatch(/^ey/)
  })

  test('both count uses and tries together', async () => {
    const exchange = async ({ url }: SharedGateway, offered: Offered, tx_code?: string) => {
      const { 'pre-authorized_code': code = '' } = offered.offer.grants[PRE_AUTHORIZED] ?? {}
      const fields = { grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code }
      const body = new URLSearchParams({ ...fields, ...(tx_code && { tx_code }) })
      return (await fetch(`${url}/wallets/token`, { method: 'POST', body })).status
    }
    const once = await offer({})
    const all = await Promise.all([...gateways, ...gateways].map((one) => exchange(one, once)))
    expect(all.sort()).toEqual([200, 400, 400, 400])
    const guarded = await offer({ txCode: true, uses: 9 })
    const wrong = guarded.txCode === '000000' ? '000001' : '000000'
    for (let i = 0; i < 5; i++) expect(await exchange(next(), guarded, wrong)).toBe(400)
    for (const one of gateways) expect(await exchange(one, guarded, guarded.txCode)).toBe(400)
  })
})

type Offered = { offer: { grants: Record<string, Record<string, string>> } }
