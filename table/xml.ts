/** A tag of an XML text, with the text that follows it up to the next tag. */
export type Element = {
  /** The name without its prefix. */
  name: string
  attributes: string
  isEnd: boolean
  /** Whether it is its own end. */
  isEmpty: boolean
  content: string
}

/**
 * Walks through the tags of XML that programs write: without document types, so that no entity can
 * grow. Comments, instructions and CDATA marks are left out.
 */
export function* elementsIn(xml: string): Generator<Element> {
  const tags = /<(\/?)(?:[\w.-]+:)?([\w.-]+)((?:[^>"']|"[^"]*"|'[^']*')*?)(\/?)>([^<]*)/g
  for (const [, end = '', name = '', attributes = '', empty = '', content = ''] of xml.matchAll(
    tags,
  ))
    yield { name, attributes, isEnd: end !== '', isEmpty: empty !== '', content }
}

/** @returns The attributes of a tag by name, with their prefixes. */
export function attributesOf({ attributes }: Element): Record<string, string> {
  const found = attributes.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)
  return Object.fromEntries([...found].map(([, name = '', a, b]) => [name, textOf(a ?? b ?? '')]))
}

const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** @returns The text that XML stands for, also of `_x000D_`, as spreadsheets write a character. */
export function textOf(content: string): string {
  return content
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED[name] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    })
    .replace(/_x([0-9A-F]{4})_/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}
