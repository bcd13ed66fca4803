import { Parser } from 'saxen'
import { TableError } from './table.ts'

const MAX_TAG = 64 * 1024
const MAX_DEPTH = 64
const LEFT_OUT = [
  // How a Japanese text is read aloud, and what only some programs know.
  'rPh',
  'extLst',
  'ruby-text',
  // What OpenDocument has beside the text of cells.
  'annotation',
  'tracked-changes',
  'dde-links',
  'shapes',
  'frame',
  'custom-shape',
]

/** What is done at each tag, named without its prefix, and with the text between tags. */
export type Walk = {
  open(name: string, attributes: () => Record<string, string>): void
  close?(name: string): void
  text?(text: string): void
}

/**
 * Walks through XML that programs write: without document types, so that no entity can grow.
 * {@link LEFT_OUT} is passed over, with all that is in it.
 *
 * @throws {TableError} `workbook_strange`, `no_workbook`
 */
export function walkXml(xml: string, { open, close, text }: Walk): void {
  for (let at = xml.indexOf('<'); at >= 0; ) {
    const end = xml.indexOf('>', at)
    if (end < 0 || end - at > MAX_TAG) throw strange(`a tag of more than ${MAX_TAG} characters`)
    at = xml.indexOf('<', end)
  }
  let depth = 0
  let leftOut = Number.POSITIVE_INFINITY
  const parser = new Parser()
    .on('openTag', (tag, attributes) => {
      const name = localName(tag)
      if (depth++ >= MAX_DEPTH) throw strange(`more than ${MAX_DEPTH} tags within each other`)
      if (LEFT_OUT.includes(name)) leftOut = Math.min(leftOut, depth)
      if (depth < leftOut) open(name, () => decoded(attributes()))
    })
    .on('closeTag', (tag) => {
      if (depth < leftOut) close?.(localName(tag))
      if (depth-- === leftOut) leftOut = Number.POSITIVE_INFINITY
    })
    // The parser would leave out an attribute that it cannot read, such as the type of a cell.
    .on('warn', (warning) => {
      throw warning
    })
    .on('attention', () => {
      throw strange('a document type')
    })
  if (text)
    parser
      .on('text', (raw) => depth < leftOut && text(withoutEntities(raw)))
      .on('cdata', (raw) => depth < leftOut && text(raw))
  try {
    if (xml !== '') parser.parse(xml)
  } catch (cause) {
    throw cause instanceof TableError ? cause : noWorkbook(cause)
  }
}

export const noWorkbook = (cause?: unknown) =>
  new TableError('no_workbook', 'the file is not a workbook, or damaged: save it again as .xlsx', {
    cause,
  })

const strange = (what: string) =>
  new TableError(
    'workbook_strange',
    `the workbook has ${what}, which no spreadsheet program writes: save it again as .xlsx`,
  )

const localName = (name: string) => name.slice(name.indexOf(':') + 1)

function decoded(attributes: Record<string, string>): Record<string, string> {
  for (const name in attributes) attributes[name] = withoutEntities(attributes[name] ?? '')
  return attributes
}

const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** (The parser's own decoder knows no characters above U+FFFF.) */
function withoutEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
