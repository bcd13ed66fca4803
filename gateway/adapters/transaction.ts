import { keccak_256 } from '@noble/hashes/sha3.js'
import type { SigningKey } from 'ethers'
import { type Hex, toHex } from '../../document/hex.ts'

/** A call of a contract, as an EIP-1559 transaction without value or access list. */
export type Call = {
  chainId: number
  nonce: number
  maxPriorityFeePerGas: bigint
  maxFeePerGas: bigint
  gasLimit: bigint
  to: Hex
  data: Hex
}

const TYPE = Buffer.of(2)
const EMPTY_LIST = Buffer.of(0xc0)
const NOTHING = Buffer.alloc(0)
/** Longer RLP content has the length of its length before it. */
const SHORT = 55

/**
 * Signs a transaction: the same bytes as ethers makes, which for a whole batch takes several times as long
 * (docs/performance.md).
 */
export function signCall(key: SigningKey, call: Call): { raw: Hex; hash: Hex } {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas } = call
  const fields = [
    ...[chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, call.gasLimit].map(
      number,
    ),
    text(fromHex(call.to)),
    text(NOTHING),
    text(fromHex(call.data)),
    EMPTY_LIST,
  ]
  const { yParity, r, s } = key.sign(
    keccak_256(Buffer.concat([TYPE, list(fields)])),
  )
  const signature = [yParity, r, s].map((part) => number(BigInt(part)))
  const bytes = Buffer.concat([TYPE, list([...fields, ...signature])])
  return { raw: `0x${bytes.toString('hex')}`, hash: toHex(keccak_256(bytes)) }
}

/** @param items Encoded already. */
function list(items: readonly Buffer[]): Buffer {
  const content = Buffer.concat(items)
  return Buffer.concat([prefix(0xc0, content.length), content])
}

function text(bytes: Buffer): Buffer {
  const [first = 0x80] = bytes
  if (bytes.length === 1 && first < 0x80) return bytes
  return Buffer.concat([prefix(0x80, bytes.length), bytes])
}

/** Without leading zeros; 0 is the empty text. */
function number(value: number | bigint): Buffer {
  return text(bigEndian(value))
}

function prefix(base: number, length: number): Buffer {
  if (length <= SHORT) return Buffer.of(base + length)
  const size = bigEndian(length)
  return Buffer.concat([Buffer.of(base + SHORT + size.length), size])
}

function bigEndian(value: number | bigint): Buffer {
  if (BigInt(value) === 0n) return NOTHING
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
}

function fromHex(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
