import { describe, expect, test } from 'vitest'
import { networkOf, parseLiveChain } from '#verifier/network.ts'

const OWN = 987654321

describe('networkOf', () => {
  test('known production networks are live', () => {
    const chains = [1, 10, 56, 100, 137, 324, 1101, 5000, 8453, 42161, 42220]
    for (const chainId of [...chains, 43114, 59144, 81457, 534352])
      expect(networkOf(chainId)).toBe('live')
  })

  test('local chains and public test networks are not', () => {
    const chains = [1337, 31337, 11155111, 17000, 560048, 84532, 11155420, 421614]
    for (const chainId of [...chains, 80002, 97, 43113, 59141])
      expect(networkOf(chainId)).toBe('test')
  })

  test('42 is the main network of LUKSO, no longer Kovan', () => {
    expect(networkOf(42)).toBe('live')
  })

  test('an unknown chain is not live, unless the caller names it', () => {
    expect(networkOf(OWN)).toBe('test')
    expect(networkOf(OWN, [5, OWN])).toBe('live')
    expect(networkOf(OWN, [5])).toBe('test')
    expect(networkOf(1, [OWN])).toBe('live')
  })

  test('a local chain is never live', () => {
    for (const chainId of [1337, 31337]) expect(networkOf(chainId, [chainId])).toBe('test')
  })
})

test('parseLiveChain reads chain ids, and refuses local chains and other text', () => {
  expect(parseLiveChain('987654321')).toBe(OWN)
  for (const text of ['1337', '31337', '', '0', '007', '-1', '1.5', '0x1', '9007199254740993', 'x'])
    expect(parseLiveChain(text)).toBeUndefined()
})
