import { describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { formatRegistryId } from '#document/registry-id.ts'
import { check } from '#web/check.ts'
import { adjustToNetwork, parseSources } from '#web/config.ts'
import { showTime } from '#web/i18n.ts'
import { InputError, parseSubject } from '#web/input.ts'
import { TEXTS } from '#web/strings/all.ts'
import { en } from '#web/strings/en.ts'
import { serveHttp } from '../../support/http.ts'

const [publicId = '', otherPublicId = ''] = golden.documents.map((one) => one.publicId)
const registry = formatRegistryId(1, `0x${'a'.repeat(40)}`)

describe('languages', () => {
  const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
  test.each(Object.entries(TEXTS))('%s has every text, with the same placeholders', (_, texts) => {
    expect(Object.keys(texts).sort()).toEqual(Object.keys(en).sort())
    for (const [key, text] of Object.entries(texts)) {
      expect([key, text.trim().length > 0]).toEqual([key, true])
      expect([key, places(text)]).toEqual([key, places(en[key as keyof typeof en])])
    }
  })

  test('shows a time beyond the calendar', () => {
    expect(showTime(0)).toContain('1970')
    expect(showTime(2 ** 52)).toContain(String(2 ** 52))
  })

  test('no language uses texts of another', () => {
    const same = Object.entries(TEXTS)
      .filter(([tag]) => tag !== 'en')
      .flatMap(([tag, texts]) =>
        Object.entries(texts)
          .filter(([key, text]) => en[key as keyof typeof en] === text)
          .map(([key]) => `${tag} ${key}`),
      )
    // Words that are the same in both.
    expect(same).toEqual(['de document.subjectName', 'de asOf', 'fr trust.transaction'])
  })
})

describe("the reader's input", () => {
  test.each([
    ['a number', publicId],
    ['a number in lines', ` ${publicId.slice(0, 9)}\n${publicId.slice(9)}`],
    ['a fragment of a number', `#${publicId}`],
    ['a link', `https://a.example/x?y=1#publicId=${publicId}`],
    ['the address of a QR code', `https://a.example/qr/${publicId}`],
    [
      'the address of a QR code as PNG, below a path',
      ` https://a.example/b/qr/${publicId}/?format=png `,
    ],
    ['an address without its scheme', `a.example/qr/${publicId}#`],
  ])('%s', async (_, text) => {
    expect(await parseSubject(text)).toMatchObject({ publicId })
  })

  test('separates the registry of a link, and ignores the rest', async () => {
    const link = `#publicId=${publicId}&registry=`
    expect(await parseSubject(`${link}${registry}.`)).toEqual({ publicId, hint: registry })
    expect(await parseSubject(link + 'x'.repeat(999))).toEqual({ publicId })
  })

  test.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['hello world', 'malformed'],
    ['#', 'malformed'],
    ['#registry=x', 'malformed'],
    ['https://a.example/qr/', 'malformed'],
    ['https://a.example/qr/x', 'malformed'],
    [`${publicId} ${otherPublicId}`, 'several'],
    [`${publicId.slice(0, -1)}${publicId.endsWith('2') ? '3' : '2'}`, 'mistyped'],
    ['#presentation=', 'excerpt'],
    [`https://a.example/#presentation=${'A'.repeat(99_999)}`, 'excerpt'],
    ['{', 'bundle'],
    ['{"type":"document-registry-presentation"}', 'excerpt'],
  ])('%s', async (text, problem) => {
    const error = await parseSubject(text).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(InputError)
    expect((error as InputError).problem).toBe(problem)
    if (text.length > 20) expect(String(error)).not.toContain(text)
  })

  test('names every bad source', () => {
    expect(
      parseSources({
        registry: 'x',
        rpc: 'ftp://a',
        ipfs: 'javascript:alert(1)',
      }),
    ).toEqual({ problems: ['registry', 'rpc', 'ipfs'] })
    expect(
      parseSources({
        registry: registry.toUpperCase().replace('EIP', 'eip').replace('0X', '0x'),
        rpc: 'https://a.example\n https://b.example https://a.example/',
        ipfs: '',
      }),
    ).toEqual({
      sources: {
        registry,
        rpc: ['https://a.example', 'https://b.example'],
        ipfs: [],
      },
    })
  })
})

describe('a node that does not advance', () => {
  const nobody = [`0x${'0'.repeat(40)}`, 0, 0, 0, 0, 0, 0]
  const answer = (chainId: number) => [
    chainId,
    9,
    1_700_000_000,
    0,
    [0, 0, 0, 0, 0, 0, 0, 0, false],
    nobody,
    nobody,
    ['', '', 0, 0, 0, 0, 0],
  ]
  const judge = async (chainId: number, maxHeadAge?: number) => {
    const node = await serveHttp((_, response) => {
      const result = registryAbi.encodeFunctionResult('verificationOf', [answer(chainId)])
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
    })
    const sources = {
      registry: formatRegistryId(chainId, `0x${'a'.repeat(40)}`),
      rpc: [node.url],
      ipfs: [],
      ...(maxHeadAge !== undefined && { maxHeadAge }),
    }
    const { signal } = new AbortController()
    const watch = { onCheck: () => {}, signal }
    const { verdict } = await check({ publicId }, sources, watch)
    await node.close()
    return verdict.checks[0]?.code
  }

  test('is rejected, also by a page without a configured maximum age', async () => {
    expect(await judge(1)).toBe('head_stale')
    expect(await judge(1, 1e9)).toBe('read')
    expect(await judge(31337)).toBe('read')
  })
})

describe('a service whose address is localhost', () => {
  const service = 'http://localhost:3000'
  const config = {
    registry,
    service,
    rpc: [`${service}/rpc`, 'https://rpc.example/key'],
    ipfs: [service],
  }
  const at = (href: string) => adjustToNetwork(config, new URL(href))

  test('is replaced by the origin of the page', () => {
    expect(at('http://192.168.1.5:3000/verify')).toEqual({
      registry,
      service: 'http://192.168.1.5:3000',
      rpc: ['http://192.168.1.5:3000/rpc', 'https://rpc.example/key'],
      ipfs: ['http://192.168.1.5:3000'],
    })
  })

  test.each(['http://127.0.0.1:3000/verify', 'http://[::1]/v', 'file:///v.html'])(
    'is kept on a page from %s',
    (href) => {
      expect(at(href)).toEqual(config)
    },
  )
})
