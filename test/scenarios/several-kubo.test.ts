import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cidOf } from '#document/cid.ts'
import { decodePublicId } from '#document/public-id.ts'
import { createKubo, type Kubo, kuboBinary } from '../support/kubo.ts'
import { postgresFolder } from '../support/postgres.ts'
import { type SharedGateway, type SharedStack, startSharedStack } from '../support/shared-stack.ts'
import { ADA } from '../support/stack.ts'

const folder = postgresFolder()
const binary = await kuboBinary()

describe.skipIf(!folder || !binary)('several gateways with one Kubo node', () => {
  let kubo: Kubo
  let stack: SharedStack
  let gateways: SharedGateway[]
  beforeAll(async () => {
    kubo = await createKubo(binary ?? '')
    await kubo.start()
    stack = await startSharedStack(folder ?? '', 2, { IPFS_API_URL: kubo.apiUrl })
    gateways = [await stack.start(), await stack.start()]
  })
  afterAll(async () => {
    await stack?.remove()
    await kubo?.remove()
  })

  const at = (i: number) => gateways[i] as SharedGateway
  const codeOf = async ({ url }: SharedGateway, publicId: string) =>
    (await fetch(`${url}/ipfs/${cidOf(decodePublicId(publicId).hash)}?format=raw`)).status

  test('a payload of one gateway is served by all, until another one erases it', async () => {
    const key = { 'idempotency-key': randomUUID() }
    const issued = await at(0).call('POST', '/v1/documents', ADA, key)
    const { publicId } = issued.body.data
    expect(await Promise.all(gateways.map((one) => codeOf(one, publicId)))).toEqual([200, 200])
    const read = await at(1).call('GET', `/v1/documents/${publicId}`)
    expect(read.body.data).toMatchObject({ subjectName: ADA.subjectName, status: 'valid' })
    const erased = await at(1).call('DELETE', `/v1/documents/${publicId}/payload`)
    expect(erased.status).toBe(200)
    expect(await Promise.all(gateways.map((one) => codeOf(one, publicId)))).toEqual([410, 410])
    const repeated = await at(0).call('POST', '/v1/documents', ADA, key)
    expect(repeated.body.error.code).toBe('erased')
  })

  test('a repeat at the other gateway removes no payload', async () => {
    const key = { 'idempotency-key': randomUUID() }
    const answers = await Promise.all(
      gateways.map((one) => one.call('POST', '/v1/documents', ADA, key)),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    const { publicId } = answers[0]?.body.data ?? {}
    expect(answers[1]?.body.data.publicId).toBe(publicId)
    expect(await Promise.all(gateways.map((one) => codeOf(one, publicId)))).toEqual([200, 200])
  })
})
