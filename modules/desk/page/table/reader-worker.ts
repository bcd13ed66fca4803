// Reads a table in a thread of its own, which the page can end. It is built into a file of its own.
import { parseTable } from '#table/read.ts'
import { TableError } from '#table/table.ts'
import type { Answer, Asked } from './reader.ts'

addEventListener('message', ({ data }: MessageEvent<Asked>) =>
  // An error must reach the page, which a rejection does not.
  answer(data).then(postMessage, reportError),
)

async function answer({ bytes, ...reading }: Asked): Promise<Answer> {
  try {
    return { table: await parseTable(bytes, reading) }
  } catch (error) {
    if (!(error instanceof TableError)) throw error
    const { problem, line, choices } = error
    return { problem, line, choices }
  }
}
