import { parseCsv } from './csv.ts'
import type { Reading, Table } from './table.ts'

/** @returns Whether these are the first bytes of a ZIP, such as a workbook. */
export function isZip(bytes: Uint8Array): boolean {
  return [0x50, 0x4b, 0x03, 0x04].every((byte, i) => bytes[i] === byte)
}

/**
 * Reads CSV or a workbook, whatever the name of the file says.
 *
 * @throws {TableError}
 */
export async function parseTable(bytes: Uint8Array, reading: Reading = {}): Promise<Table> {
  if (!isZip(bytes)) return parseCsv(bytes, reading)
  // What reads workbooks is larger than all else that reads tables.
  const { parseWorkbook } = await import('./workbook.ts')
  return parseWorkbook(bytes, reading)
}
