// Reads a table in a thread of its own, which the page can end. It is built into a file of its own.
import { parseCsv } from '#table/csv.ts'
import { TableError } from '#table/table.ts'
import { isZip, parseXlsx } from '#table/xlsx.ts'
import type { Answer, Asked } from './reader.ts'

addEventListener('message', ({ data }: MessageEvent<Asked>) => postMessage(answer(data)))

function answer({ bytes, encoding, language }: Asked): Answer {
  try {
    return { table: isZip(bytes) ? parseXlsx(bytes, language) : parseCsv(bytes, encoding) }
  } catch (error) {
    if (!(error instanceof TableError)) throw error
    return { problem: error.problem, line: error.line }
  }
}
