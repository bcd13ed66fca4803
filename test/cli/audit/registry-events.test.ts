import { AbiCoder, id } from 'ethers'
import { expect, test } from 'vitest'
import { decodeAdminLog } from '../../../cli/audit/registry-events.ts'
import type { Hex } from '../../../document/hex.ts'

const ADDRESS: Hex = `0x${'a'.repeat(40)}`
const HASH = `0x${'1'.repeat(64)}`

test('behavior: a name and a uri that are not UTF-8 are read with U+FFFD', () => {
  const by: Hex = `0x${'b'.repeat(40)}`
  const data = AbiCoder.defaultAbiCoder().encode(
    ['bytes', 'bytes', 'address'],
    ['0x41ff42', '0xc3', by],
  )
  const log = {
    ...{ address: ADDRESS, data, blockNumber: '0x7' },
    topics: [id('IssuerUpdated(uint32,string,string,address)'), `0x${'1'.padStart(64, '0')}`],
    ...{ transactionHash: HASH, blockHash: HASH, logIndex: '0x0' },
  }
  expect(decodeAdminLog(log, { address: ADDRESS, issuerId: 1 })).toMatchObject({
    ...{ event: 'issuer_renamed', name: 'A\ufffdB', uri: '\ufffd', by },
  })
})
