import type { FieldProblem } from '#document/errors.ts'
import { CELL_PROBLEMS, dayIn } from '#table/rows.ts'
import type { Row } from '#table/table.ts'
import { seen } from '#table/words.ts'
import { foreign, h } from '#web/dom.ts'
import { showNumber } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { fieldLabel } from '../kinds.ts'
import { problemWords } from '../problems.ts'
import { categoryIn, changed, check, fieldsOf, issuedCells, type TableRun } from '../table/run.ts'

/** Rows that are drawn at a time, so that a table of any length is smooth. */
export const PAGE = 50

/**
 * The rows of a table, each cell editable, with what is wrong with it.
 *
 * @param mended Called after each change of a cell.
 */
export function viewRows(desk: Desk, run: TableRun, mended: () => void): HTMLElement {
  const { bad } = check(run)
  const indexes = run.isFiltered ? [...bad.keys()] : run.rows.map((_, index) => index)
  const shown = indexes.slice(run.page * PAGE, (run.page + 1) * PAGE)
  const fields = [...fieldsOf(run)]
  const category = categoryIn(run)
  const count = h('p', { id: 'row-count', role: 'status' }, countWords(run))
  const rows = shown.map((index) => viewRow(run, index, fields, () => update()))
  function update(): void {
    changed(run)
    count.textContent = countWords(run)
    for (const row of rows) row.update()
    mended()
  }
  const filter = h('input', {
    type: 'checkbox',
    id: 'filter',
    checked: run.isFiltered,
    change: () => {
      run.isFiltered = filter.checked
      run.page = 0
      desk.redraw('filter')
    },
  })
  return h(
    'section',
    {},
    h('h2', { id: 'rows', tabindex: '-1' }, d('table.rows')),
    count,
    h('label', { class: 'tick' }, filter, h('span', {}, d('table.onlyBad'))),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': 'rows' },
      h(
        'table',
        { class: 'grid' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, d('table.line')),
            ...fields.map(([, name]) =>
              h('th', { scope: 'col' }, foreign(fieldLabel(name, category))),
            ),
            h('th', { scope: 'col' }, d('table.problem')),
          ),
        ),
        h('tbody', {}, ...rows.map(({ element }) => element)),
      ),
    ),
    viewPages(desk, run, indexes.length),
  )
}

function countWords(run: TableRun): string {
  const { good, bad } = check(run)
  const values = { good: showNumber(good.size), bad: showNumber(bad.size) }
  return d(bad.size === 0 ? 'table.allGood' : 'table.someBad', values)
}

function viewRow(
  run: TableRun,
  index: number,
  fields: [column: string, field: string][],
  edited: () => void,
) {
  const row = run.rows[index] ?? { line: 0, cells: {} }
  const { line } = row
  const cells = issuedCells(run)(row)
  const category = categoryIn(run)
  const note = h('td', { class: 'problem' })
  const inputs = fields.map(([column, name]) => {
    const input = h('input', {
      type: 'text',
      autocomplete: 'off',
      dir: 'auto',
      'aria-label': d('table.cell', { field: fieldLabel(name, category), line: showNumber(line) }),
      change: () => {
        const row = run.rows[index]
        if (row) run.rows[index] = edit(row, column, seen(input.value).trim())
        edited()
      },
    })
    input.value = cells[column] ?? ''
    return { name, input }
  })
  function update(): void {
    const problems = check(run).bad.get(index) ?? []
    for (const { name, input } of inputs) {
      const isBad = problems.some(({ field }) => field === name)
      input.setAttribute('aria-invalid', String(isBad))
    }
    note.replaceChildren(...problems.map((one) => h('p', {}, wordsFor(run, one, inputs, category))))
  }
  update()
  const element = h(
    'tr',
    {},
    h('th', { scope: 'row' }, showNumber(line)),
    ...inputs.map(({ input }) => h('td', {}, input)),
    note,
  )
  return { element, update }
}

/** @returns A row with another text in a cell, about which the workbook then says no more. */
function edit({ line, cells, notes = {} }: Row, column: string, text: string): Row {
  const { [column]: _, ...others } = notes
  return { line, cells: { ...cells, [column]: text }, notes: others }
}

function wordsFor(
  run: TableRun,
  { field, message }: FieldProblem,
  inputs: { name: string; input: HTMLInputElement }[],
  category: string,
): string {
  const [, line] = /^is a duplicate of line (\d+)$/.exec(message) ?? []
  if (line !== undefined) return d('table.duplicate', { line })
  const [own] = Object.entries(CELL_PROBLEMS).find(([, words]) => words === message) ?? []
  const label = quoted(fieldLabel(field, category))
  if (own !== undefined) return `${label}: ${d(`table.${own as keyof typeof CELL_PROBLEMS}`)}`
  const value = inputs.find(({ name }) => name === field)?.input.value ?? ''
  return `${label}: ${problemWords(field, dayIn(value, run.dates) ?? value, category)}`
}

/** Turns the pages of a long list. */
export function viewPages(desk: Desk, run: TableRun, count: number): HTMLElement | false {
  const pages = Math.ceil(count / PAGE)
  if (pages < 2) return false
  const turn = (id: string, by: number, label: string) =>
    h(
      'button',
      {
        type: 'button',
        id,
        disabled: run.page + by < 0 || run.page + by >= pages,
        click: () => {
          run.page += by
          desk.redraw('rows')
        },
      },
      label,
    )
  return h(
    'div',
    { class: 'ways pages' },
    turn('page-before', -1, d('table.before')),
    h('span', {}, d('table.page', { page: showNumber(run.page + 1), pages: showNumber(pages) })),
    turn('page-after', 1, d('table.after')),
  )
}
