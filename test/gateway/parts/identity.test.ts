import { expect, onTestFinished, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { openIdentities } from '#parts/identity.ts'
import { readConfig } from '#settings/config.ts'
import { createDidDocument } from '#verifier/identity.ts'

const NAME = 'University'
const ISSUER = [NAME, 'https://university.example', 0, 0, 1, 1, 0]
const answer = registryAbi.encodeFunctionResult('issuerOf', [ISSUER])
const hexOf = (text: string) => Buffer.from(text).toString('hex')
const ignore = () => {}

test.each([
  ['name', NAME],
  ['uri', 'https://university.example'],
])('accepts an issuer whose %s is not UTF-8', async (_, text) => {
  const first = hexOf(text)
  const result = answer.replace(first, `ff${first.slice(2)}`)
  expect(result).not.toBe(answer)
  const identities = await openIdentities(
    readConfig({}),
    { request: async () => result },
    {
      registry: `eip155:1:0x${'1'.repeat(40)}`,
      issuerId: 1,
      accounts: [`0x${'2'.repeat(40)}`],
    },
    { debug: ignore, info: ignore, warn: ignore, error: ignore },
  )
  expect(identities.didDocument).toBeUndefined()
})

test('asks the domain once for all accounts, and reports each', async () => {
  const registry = `eip155:1:0x${'1'.repeat(40)}` as const
  const [listed, other] = [`0x${'2'.repeat(40)}`, `0x${'3'.repeat(40)}`] as const
  const document = createDidDocument({
    did: 'did:web:university.example',
    registry,
    issuerId: 1,
    accounts: [listed],
  })
  const reported: unknown[] = []
  const report = (event: string, fields?: object) => reported.push([event, fields])
  let asked = 0
  const identities = await openIdentities(
    readConfig({}),
    { request: async () => answer },
    {
      registry,
      issuerId: 1,
      accounts: [listed, other],
      fetchDid: async () => {
        asked++
        return Response.json(document)
      },
    },
    { debug: ignore, info: report, warn: report, error: ignore },
  )
  identities.start()
  onTestFinished(identities.stop)
  await expect.poll(() => reported.length).toBe(2)
  expect(asked).toBe(1)
  expect(reported).toEqual([
    ['issuer_linked', { domain: 'university.example', account: listed }],
    ['issuer_not_linked', expect.objectContaining({ code: 'account_not_listed', account: other })],
  ])
})
