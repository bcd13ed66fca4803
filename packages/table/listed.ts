import { cellsOf } from './rows.ts'

const COLUMNS = [
  'status',
  'subjectName',
  'subjectId',
  'category',
  'issuedAt',
  'expiresAt',
  'createdAt',
]
/** Fields of the answer that are not part of the document. */
const LEFT_OUT = ['registry', 'issuerId', 'qrCodeUrl', 'validUntil', 'blockchainHash']

/** A document in a list of the service. An erased one has no dates. */
type Listed = { status: string; issuedAt?: string; expiresAt?: string }

/** @returns Documents of a list as a table, for `formatTable`. */
export function listedTable(found: readonly Listed[]): {
  columns: string[]
  rows: Record<string, string>[]
} {
  const rows = found.map((document) => {
    const { issuedAt, expiresAt } = document
    return cellsOf({
      ...document,
      ...(issuedAt && { issuedAt: issuedAt.slice(0, 10) }),
      ...(expiresAt && { expiresAt: expiresAt.slice(0, 10) }),
    })
  })
  const names = new Set([...COLUMNS, ...rows.flatMap((row) => Object.keys(row))])
  return { columns: [...names].filter((name) => !LEFT_OUT.includes(name)), rows }
}
