import { describe, expect, test } from 'vitest'
import { networkOf } from '../../verifier/network.ts'

describe('networkOf', () => {
  test('default: local chains are test networks', () => {
    for (const chainId of [1337, 31337]) expect(networkOf(chainId)).toBe('test')
  })

  test('default: Sepolia and the test networks of large chains are', () => {
    const chains = [11155111, 17000, 560048, 84532, 11155420, 421614]
    for (const chainId of [...chains, 80002, 97, 43113, 59141])
      expect(networkOf(chainId)).toBe('test')
  })

  test('default: chains of real value are live', () => {
    const chains = [1, 10, 56, 100, 137, 324, 1101, 5000, 8453, 42161, 42220]
    for (const chainId of [...chains, 43114, 59144, 81457, 534352])
      expect(networkOf(chainId)).toBe('live')
  })

  test('behavior: 42 is the main network of LUKSO, no longer Kovan', () => {
    expect(networkOf(42)).toBe('live')
  })

  test('behavior: an unknown chain counts as live', () => {
    expect(networkOf(987654321)).toBe('live')
  })
})
