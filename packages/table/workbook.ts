import { parseOds } from './ods.ts'
import { openParts } from './parts.ts'
import type { Reading, Table } from './table.ts'
import { parseXlsx } from './xlsx.ts'

/**
 * Reads a workbook of Office Open XML (.xlsx) or OpenDocument (.ods).
 *
 * @throws {TableError}
 */
export function parseWorkbook(bytes: Uint8Array, reading: Reading = {}): Table {
  const parts = openParts(bytes)
  const content = parts.text('/content.xml')
  return content === undefined ? parseXlsx(parts, reading) : parseOds(content, reading)
}
