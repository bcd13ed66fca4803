import { strToU8, zipSync } from 'fflate'

const TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** @returns A workbook (.xlsx) with the cells of these sheets, whose names are XML. */
export function sheetsOf(sheets: Record<string, string[][]>): Uint8Array<ArrayBuffer> {
  const names = Object.keys(sheets)
  const tags = names.map((name, i) => `<sheet name="${name}" r:id="rId${i}"/>`)
  const rels = names.map(
    (_, i) => `<Relationship Id="rId${i}" Type="${TYPE}/worksheet" Target="s${i}.xml"/>`,
  )
  const rowOf = (cells: string[]) =>
    `<row>${cells.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`
  const parts: Record<string, string> = {
    'xl/workbook.xml': `<workbook><sheets>${tags.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${rels.join('')}</Relationships>`,
  }
  for (const [i, rows] of Object.values(sheets).entries())
    parts[`xl/s${i}.xml`] = `<worksheet>${rows.map(rowOf).join('')}</worksheet>`
  return zipSync(
    Object.fromEntries(Object.entries(parts).map(([path, xml]) => [path, strToU8(xml)])),
  )
}
