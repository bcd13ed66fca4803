import { expect, test } from 'vitest'
import { readConfig } from '../../gateway/config.ts'
import { openIdentities } from '../../gateway/identity.ts'
import { registryAbi } from '../../gateway/registry-abi.ts'

const NAME = 'University'
const ISSUER = [NAME, 'https://university.example', 0, 0, 1, 1, 0]
const answer = registryAbi.encodeFunctionResult('issuerOf', [ISSUER])
const hexOf = (text: string) => Buffer.from(text).toString('hex')
const ignore = () => {}

test.each([
  ['name', NAME],
  ['uri', 'https://university.example'],
])('error: opens with an issuer whose %s is not UTF-8', async (_, text) => {
  const first = hexOf(text)
  const result = answer.replace(first, `ff${first.slice(2)}`)
  expect(result).not.toBe(answer)
  const identities = await openIdentities(
    readConfig({}),
    { request: async () => result },
    {
      registry: `eip155:1:0x${'1'.repeat(40)}`,
      issuerId: 1,
      account: `0x${'2'.repeat(40)}`,
    },
    { debug: ignore, info: ignore, warn: ignore, error: ignore },
  )
  expect(identities.didDocument).toBeUndefined()
})
