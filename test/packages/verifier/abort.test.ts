import { describe, expect, test } from 'vitest'
import type { BlockSource, ChainReader } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import type { Check } from '#verifier/verdict.ts'
import { serveHttp } from '../../support/http.ts'
import {
  codeOf,
  honest,
  judge,
  kept,
  liar,
  provider,
  reader,
  registry,
  revoked,
  source,
  useNodes,
} from './nodes.ts'

useNodes()

describe('abort, time-outs and progress', () => {
  const slow = () => {
    for (const proxy of honest) proxy.fault = () => ({ kind: 'delay', milliseconds: 60_000 })
  }

  test('makes no request if it was aborted before', async () => {
    liar.asked.length = 0
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    await expect(judge(kept, reader(liar), { signal })).rejects.toBe(reason)
    expect(liar.asked).toEqual([])
  })

  test.each<[string, () => ChainReader]>([
    ['one node', () => reader(honest[0])],
    ['two of three', () => createQuorumReader(honest.map(reader), 2)],
    ['a proof', () => createProvingReader(provider(honest[0].url), registry)],
  ])('aborted while %s does not answer', async (_, chain) => {
    slow()
    const controller = new AbortController()
    const reason = new Error('enough')
    const running = judge(kept, chain(), { signal: controller.signal })
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
  })

  test('can be aborted while a block is awaited', async () => {
    const controller = new AbortController()
    const never: BlockSource = {
      get: () => {
        controller.abort(new Error('enough'))
        return new Promise(() => {})
      },
    }
    await expect(
      judge(kept, reader(liar), {
        blocks: [never],
        signal: controller.signal,
      }),
    ).rejects.toThrow('enough')
  })

  test('gives up on a node that takes too long', async () => {
    slow()
    const impatient = createChainReader(createFetchProvider(honest[0].url, 50), registry)
    expect(await codeOf(kept, impatient)).toBe('rpc_unreachable')
  })

  test('gives up on a node that never ends its answer', async () => {
    let sent = 0
    const endless = await serveHttp((_, response) => {
      const chunk = Buffer.alloc(2 ** 20, ' ')
      const more = () => {
        while (sent < 2 ** 28 && !response.closed) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
        response.end()
      }
      response.on('drain', more)
      more()
    })
    const chain = createChainReader(createFetchProvider(endless.url, 60_000), registry)
    expect(await codeOf(kept, chain)).toBe('rpc_unreachable')
    await endless.close()
    expect(sent).toBeLessThan(2 ** 27)
  })

  test('switches to the next source when one takes too long', async () => {
    const silent = await serveHttp(() => {})
    const verdict = await judge(kept, reader(liar), {
      blocks: [createIpfsGatewaySource(silent.url, 50), source()],
    })
    await silent.close()
    expect(verdict.status).toBe('valid')
  })

  test('reports each check once, those of the record first', async () => {
    for (const publicId of [kept, revoked]) {
      const told: Check[] = []
      const { checks } = await judge(publicId, reader(liar), {
        onCheck: (check) => told.push(check),
      })
      expect(told).toHaveLength(checks.length)
      expect(new Set(told)).toEqual(new Set(checks))
      const ofRecord = checks.filter(({ check }) => check !== 'identity')
      expect(told.slice(0, 6)).toEqual(ofRecord.slice(0, 6))
    }
  })
})
