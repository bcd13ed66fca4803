import type { Choices } from '#table/table.ts'
import { h } from '#web/dom.ts'
import { d } from '../i18n.ts'
import { field } from './parts.ts'

/**
 * Asks which table of a file is read, where there is more than one answer.
 *
 * @param read Reads the file again.
 */
export function viewChoices(
  { header, lines, sheet, sheets = [] }: Choices,
  read: (chosen: { sheet?: string | undefined; header?: number }) => void,
): HTMLElement[] {
  const bySheet = h(
    'select',
    { id: 'sheet', change: () => read({ sheet: bySheet.value }) },
    ...sheets.map((name) => h('option', { value: name, selected: name === sheet }, name)),
  )
  const byHeader = h(
    'select',
    { id: 'header', change: () => read({ sheet, header: Number(byHeader.value) }) },
    ...lines.map(({ line, cells }) =>
      h(
        'option',
        { value: String(line), selected: line === header },
        `${line}: ${cells.join(' · ')}`,
      ),
    ),
  )
  return [
    ...(sheets.length > 1 ? [field(d('table.sheet'), bySheet)] : []),
    ...(lines.length > 1 ? [field(d('table.header'), byHeader)] : []),
  ]
}
