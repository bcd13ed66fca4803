// Computes the cost of issuing for a year from the gas snapshot of the contract.
import { readFileSync } from 'node:fs'
import { UsageError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { printableJson } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

/** It is assumed that one document in a hundred is revoked. */
const REVOKED = 0.01
const DOCUMENTS = [1_000, 50_000, 1_000_000]

/** Amsterdam makes new state several times as dear (EIP-8037). */
const FORKS = ['osaka', 'amsterdam'] as const
const NAMES = { osaka: 'Osaka', amsterdam: 'Amsterdam' }
type Gas = Record<
  'issue one' | 'issue many, 500' | 'Merkle root of 1,000' | 'revoke one' | 'revoke one of a batch',
  number
>

/** @returns The exit code. */
export function costs(
  values: { gwei?: string; coin?: string; documents?: string; json?: boolean },
  { write }: Terminal,
): number {
  const [gwei, coin] = [
    numberOf('gwei', values.gwei ?? '2'),
    numberOf('coin', values.coin ?? '3000'),
  ]
  const sizes =
    values.documents === undefined ? DOCUMENTS : [numberOf('documents', values.documents)]
  const gas: Record<(typeof FORKS)[number], Gas> = JSON.parse(
    readFileSync(new URL('../../../test/contracts/gas.json', import.meta.url), 'utf8'),
  )
  const rows = FORKS.flatMap((fork) => {
    const costOf = (documents: number, issue: keyof Gas, revoke: keyof Gas = 'revoke one') =>
      documents * (gas[fork][issue] + REVOKED * gas[fork][revoke]) * gwei * 1e-9 * coin
    return sizes.map((documents) => ({
      fork,
      documents,
      oneByOne: costOf(documents, 'issue one'),
      grouped: costOf(documents, 'issue many, 500'),
      inBatches: costOf(documents, 'Merkle root of 1,000', 'revoke one of a batch'),
    }))
  })
  if (values.json) write(printableJson(rows))
  else {
    write('| gas of | documents a year | one by one | grouped | in batches of 1,000 |')
    write('|---|---:|---:|---:|---:|')
    for (const { fork, ...row } of rows)
      write(`| ${[NAMES[fork], ...Object.values(row).map(rounded)].join(' | ')} |`)
  }
  return EXIT.ok
}

/** @throws {UsageError} */
function numberOf(option: string, text: string): number {
  const number = Number(text)
  if (number > 0 && Number.isFinite(number)) return number
  throw new UsageError(`--${option} must be a number greater than 0`)
}

const rounded = (number: number) =>
  number.toLocaleString('en', { maximumFractionDigits: number < 10 ? 2 : 0 })
