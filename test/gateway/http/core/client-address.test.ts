import { expect, test } from 'vitest'
import { countedAddress, createClientAddress } from '#http/core/client-address.ts'

const PROXY = '10.0.0.7'
const OUTER = '192.168.3.4'
const CLIENT = '203.0.113.9'
const of = createClientAddress([PROXY, '192.168.0.0/16', '::1', '2001:db8::/32'])

test('is the peer of the connection', () => {
  expect(of(CLIENT, undefined)).toBe(CLIENT)
  expect(of('::ffff:203.0.113.9', undefined)).toBe(CLIENT)
  expect(of(PROXY, undefined)).toBe(PROXY)
  expect(of(undefined, CLIENT)).toBe('')
})

test.each<[string, string, string, string]>([
  ['a trusted proxy names the client', PROXY, CLIENT, CLIENT],
  ['a proxy in a trusted network', OUTER, CLIENT, CLIENT],
  ['a trusted proxy over IPv6', '::1', '2a00::5', '2a00::5'],
  ['a trusted IPv6 network', '2001:db8:1::5', CLIENT, CLIENT],
  ['a socket of both families', `::ffff:${PROXY}`, `::ffff:${CLIENT}`, CLIENT],
  ['two trusted proxies', PROXY, `${CLIENT}, ${OUTER}`, CLIENT],
  ['what the client put before it is not read', PROXY, `1.2.3.4, ${CLIENT}`, CLIENT],
  ['an invented trusted proxy before it changes nothing', PROXY, `1.2.3.4, ${CLIENT}`, CLIENT],
  ['only trusted proxies', PROXY, OUTER, OUTER],
  ['a part that is not an address', PROXY, 'unknown', PROXY],
  ['an address with a port', PROXY, `${CLIENT}:1234`, PROXY],
  ['an empty header', PROXY, '', PROXY],
  ['a bad part behind a good one', PROXY, `${CLIENT}, x, ${OUTER}`, OUTER],
])('reads the header from the right: %s', (_, peer, forwarded, expected) => {
  expect(of(peer, forwarded)).toBe(expected)
})

test('does not trust a client that is not a trusted proxy', () => {
  expect(of(CLIENT, '1.2.3.4')).toBe(CLIENT)
  expect(of('192.169.0.1', '1.2.3.4')).toBe('192.169.0.1')
})

test('reports once that it ignores the header when no proxy is trusted', () => {
  let reports = 0
  const address = createClientAddress([], () => reports++)
  expect(address(CLIENT, undefined)).toBe(CLIENT)
  expect(reports).toBe(0)
  for (let i = 0; i < 3; i++) expect(address(PROXY, CLIENT)).toBe(PROXY)
  expect(reports).toBe(1)
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['', ''],
])('counts %s as %s', (address, counted) => {
  expect(countedAddress(address)).toBe(counted)
})
