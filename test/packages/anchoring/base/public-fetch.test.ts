import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createPublicFetch, isPublicAddress } from '#base/public-fetch.ts'

describe('isPublicAddress', () => {
  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.0.1',
    '100.128.0.0',
    '192.0.1.1',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450::1',
    '2001:4860:4860::8888',
  ])('%s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each([
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.51.100.1',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    'fec0::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    '',
    'localhost',
    '1.1.1',
    '0x7f.1',
    'fe80::1%eth0',
  ])('%j', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})

describe('createPublicFetch', () => {
  const stops: (() => void)[] = []
  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
  })
  /** @returns The port, and how many connections were made to it. */
  const listen = async (listener: RequestListener = (_, r) => r.end('{}')) => {
    let connections = 0
    const server = createServer(listener).listen(0, '127.0.0.1')
    server.on('connection', () => connections++)
    stops.push(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    return { port, connections: () => connections }
  }
  const names = (table: Record<string, string[]>) => async (host: string) => table[host] ?? []
  const reasonOf = async (work: Promise<unknown>): Promise<string> => {
    const error = await work.then(
      () => new Error('it was fetched'),
      (error) => error,
    )
    return error.cause?.message ?? error.message
  }

  test('connects to the addresses that it checked', async () => {
    const { port, connections } = await listen()
    const checked: string[] = []
    const get = createPublicFetch({
      resolve: names({ 'issuer.test': ['127.0.0.1'] }),
      isAllowed: (address) => checked.push(address) > 0,
    })
    const response = await get(`http://issuer.test:${port}/did.json`)
    expect(await response.text()).toBe('{}')
    expect([checked, connections()]).toEqual([['127.0.0.1'], 1])
  })

  test('refuses a name with any address that is not public', async () => {
    const { port, connections } = await listen()
    for (const addresses of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:127.0.0.1']]) {
      const get = createPublicFetch({
        resolve: names({ 'issuer.test': addresses }),
      })
      expect(await reasonOf(get(`http://issuer.test:${port}/`))).toBe('the address is not public')
    }
    expect(connections()).toBe(0)
  })

  test('refuses an address instead of a name', async () => {
    const { port, connections } = await listen()
    const get = createPublicFetch()
    for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '127.1'])
      expect(await reasonOf(get(`http://${host}:${port}/`))).toBe('the address is not public')
    expect(connections()).toBe(0)
  })

  test('resolves a name once, so that it cannot change meanwhile', async () => {
    const { port, connections } = await listen()
    let asked = 0
    const get = createPublicFetch({
      resolve: async () => {
        asked++
        // First an allowed address without a listener, then a forbidden one.
        return asked === 1 ? ['127.0.0.2'] : ['127.0.0.1']
      },
      isAllowed: (address) => address === '127.0.0.2',
    })
    expect(await reasonOf(get(`http://issuer.test:${port}/`))).toMatch(/ECONNREFUSED/)
    expect([asked, connections()]).toEqual([1, 0])
  })

  test('refuses localhost and names without an address', async () => {
    const { port, connections } = await listen()
    const get = createPublicFetch({ resolve: names({}) })
    for (const name of ['localhost', 'nowhere.test'])
      expect(await reasonOf(get(`http://${name}:${port}/`))).toBe('the host name has no address')
    expect(connections()).toBe(0)
  })

  test('sends nothing about the verifier, and follows no redirect', async () => {
    const seen: object[] = []
    const inner = await listen()
    const { port } = await listen(({ headers, method }, response) => {
      const { cookie, referer, authorization } = headers
      seen.push({ method, cookie, referer, authorization })
      response.writeHead(302, { location: `http://127.0.0.1:${inner.port}/` }).end()
    })
    const get = createPublicFetch({
      resolve: names({ 'issuer.test': ['127.0.0.1'] }),
      isAllowed: () => true,
    })
    await expect(get(`http://issuer.test:${port}/`, { redirect: 'error' })).rejects.toThrow()
    expect(seen).toEqual([{ method: 'GET' }])
    expect(inner.connections()).toBe(0)
  })
})
