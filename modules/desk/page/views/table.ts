import { csvLine } from '#table/format.ts'
import { ENCODINGS, type Encoding, SCRIPTS } from '#table/table.ts'
import { h } from '#web/dom.ts'
import { currentLanguage, LANGUAGES, showNumber, t } from '#web/i18n.ts'
import type { Desk, View } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { allKinds, categoryNamed, entriesOf, fieldLabel, kindName, kindOf } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { quote } from '../table/issue.ts'
import { type Asked, readTable } from '../table/reader.ts'
import {
  categoryIn,
  changed,
  check,
  decideByKind,
  doubtful,
  isDate,
  keepRun,
  newRun,
  repeated,
  SETTABLE,
  type TableRun,
  undecided,
  unshown,
} from '../table/run.ts'
import { viewChoices } from './choices.ts'
import { ask } from './dialog.ts'

import {
  duration,
  ether,
  field,
  hint,
  saveBytes,
  section,
  viewNotice,
  viewTrouble,
} from './parts.ts'

import { viewResults } from './results.ts'
import { viewRows } from './rows.ts'
import { giveUp, goOn } from './running.ts'
import { viewRuns } from './runs.ts'

/** The maximum bytes of a table; one of 100,000 rows has about 10 MB. */
const MAX_BYTES = 32 * 1024 * 1024
/** How many columns are named that keep a table from being issued. */
const MAX_NAMED = 5
/** How many words show what an encoding means. */
const MAX_SAMPLE = 12
const TEMPLATE = ['subjectName', 'subjectId', 'category', 'issuedAt', 'expiresAt', 'metadata.grade']

export function viewTable(desk: Desk): View {
  const { table } = desk.memory
  const title = d('nav.table')
  if (table === undefined) return { title, content: [viewGive(desk), viewRuns(desk)] }
  if (table.sent !== undefined) {
    // The page was opened anew while the service was issuing.
    if (table.runId !== undefined && !table.isDone && !table.isBusy && !table.isHalted)
      queueMicrotask(() => goOn(desk, table, false))
    return { title, content: viewResults(desk, table) }
  }
  const issue = viewIssue(desk, table)
  return {
    title,
    content: [
      !table.isKept && viewNotice(d('table.notKept')),
      viewColumns(desk, table),
      viewRows(desk, table, issue.update),
      issue.element,
    ],
  }
}

/** Where a table is dropped, chosen or pasted. */
function viewGive(desk: Desk): HTMLElement {
  const trouble = viewTrouble(undefined)
  const ways = h('div', { class: 'ways' })
  const give = async (name: string, bytes: Uint8Array, encoding?: Encoding) => {
    await read(name, { bytes, encoding, language: languageOfFiles() })
  }
  const read = async (name: string, asked: Asked) => {
    const { bytes } = asked
    trouble.textContent = ''
    ways.replaceChildren(hint(d('table.reading')))
    const problem = await take(desk, name, asked)
    trouble.textContent = problem?.words ?? ''
    ways.replaceChildren()
    if (problem?.choices)
      ways.replaceChildren(
        ...viewChoices(problem.choices, (chosen) => read(name, { ...asked, ...chosen })),
      )
    if (problem?.code === 'not_utf8' || problem?.code === 'not_encoding')
      ways.replaceChildren(viewEncodings(bytes, (encoding) => give(name, bytes, encoding)))
  }
  const giveFile = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > MAX_BYTES) {
      trouble.textContent = d('table.tooLarge')
      return
    }
    give(file.name, new Uint8Array(await file.arrayBuffer()))
  }
  const input = h('input', {
    type: 'file',
    class: 'unseen',
    accept: '.xlsx,.ods,.csv,.txt,text/csv',
    change: () => {
      giveFile(input.files?.[0])
      input.value = ''
    },
  })
  const pasted = h('textarea', { id: 'pasted', rows: '5', dir: 'auto', spellcheck: 'false' })
  const zone: HTMLElement = h(
    'section',
    {
      class: 'give',
      dragover: (event: DragEvent) => {
        event.preventDefault()
        zone.classList.add('over')
      },
      dragleave: () => zone.classList.remove('over'),
      drop: (event: DragEvent) => {
        event.preventDefault()
        zone.classList.remove('over')
        giveFile(event.dataTransfer?.files[0])
      },
    },
    h('p', {}, d('table.lead')),
    h(
      'div',
      { class: 'ways' },
      h('label', { class: 'button primary' }, input, d('table.choose')),
      ...viewTemplate(),
    ),
    trouble,
    ways,
    h(
      'form',
      {
        submit: (event: Event) => {
          event.preventDefault()
          give(d('table.pasted'), new TextEncoder().encode(pasted.value))
        },
      },
      field(d('table.paste'), pasted),
      h('div', { class: 'ways' }, h('button', { type: 'submit' }, d('table.read'))),
    ),
  )
  return zone
}

/**
 * Reads a table, and shows it.
 *
 * @param before The same table, with what the person has decided about it.
 * @returns What is wrong with it.
 */
async function take(desk: Desk, name: string, asked: Asked, before?: TableRun) {
  const answer = await readTable(asked)
  if ('table' in answer && answer.table.rows.length > 0) {
    const fresh = newRun(name, answer.table)
    const { columns, set, mode } = before ?? fresh
    const isAlike = columns.join() === fresh.columns.join()
    const map = before && isAlike ? before.map : fresh.map
    const { choices } = answer.table
    const run = { ...fresh, asked, choices, map, set, mode }
    desk.memory.table = run
    keepRun(run)
    if (desk.isAt('#/table')) desk.redraw('heading')
    return undefined
  }
  const { problem, line, choices } =
    'problem' in answer
      ? answer
      : { problem: 'no_columns' as const, line: 0, choices: answer.table.choices }
  return { code: problem, choices, words: d(`table.${problem}`, { line: showNumber(line ?? 0) }) }
}

/** @returns The language of the page, in the country of the browser if that is of this language. */
function languageOfFiles(): string {
  const language = currentLanguage()
  return navigator.language.startsWith(`${language}-`) ? navigator.language : language
}

/** Asks for the encoding of a text, and shows what its names then are. */
function viewEncodings(bytes: Uint8Array, read: (encoding: Encoding) => void): HTMLElement {
  const scripts = new Intl.DisplayNames([currentLanguage()], { type: 'script' })
  const sample = h('p', { id: 'encoding-sample', role: 'status', dir: 'auto' })
  const button = h(
    'button',
    { type: 'button', disabled: true, click: () => read(select.value as Encoding) },
    d('table.readSo'),
  )
  const select = h(
    'select',
    {
      id: 'encoding',
      change: () => {
        button.disabled = select.value === ''
        sample.textContent = select.value === '' ? '' : wordsThen(bytes, select.value)
      },
    },
    h('option', { value: '' }, d('choose')),
    ...ENCODINGS.map((encoding) =>
      h('option', { value: encoding }, `${scripts.of(SCRIPTS[encoding])} (${encoding})`),
    ),
  )
  return h('div', {}, field(d('table.encoding'), select), sample, button)
}

/** @returns Words of a text that other encodings read otherwise. */
function wordsThen(bytes: Uint8Array, encoding: string): string {
  const text = new TextDecoder(encoding).decode(bytes)
  const words = text.matchAll(/[^\s,;|"]*[^\p{ASCII}][^,;|"\t\r\n]*/gu)
  return [...new Set([...words].map(([word]) => word))].slice(0, MAX_SAMPLE).join(' · ')
}

/** @param category The kind whose entries are the columns; empty = any. */
function saveTemplate(category: string): void {
  const own = entriesOf(category)?.map(({ name }) => fieldLabel(name, category))
  const plain = TEMPLATE.filter((name) => !name.startsWith('metadata.'))
  const text = `\ufeff${csvLine(own ? [...plain, ...own] : TEMPLATE)}`
  saveBytes(`${category || 'documents'}.csv`, new TextEncoder().encode(text), 'text/csv')
}

/** An empty table to fill in, with the entries of a kind. */
function viewTemplate(): (HTMLElement | false)[] {
  const kinds = allKinds()
  const select = h(
    'select',
    { 'aria-label': t('document.category') },
    h('option', { value: '' }, d('find.any')),
    ...kinds.map(({ category }) => h('option', { value: category }, kindName(category))),
  )
  return [
    h('button', { type: 'button', click: () => saveTemplate(select.value) }, d('table.template')),
    kinds.length > 0 && select,
  ]
}

/** What each column means, and what is the same in all rows. */
function viewColumns(desk: Desk, run: TableRun): HTMLElement {
  const open = undecided(run)
  const twice = repeated(run)
  const taken = Object.values(run.map)
  const category = categoryIn(run)
  const ofKind = entriesOf(category)
  const set = (focus: string, change: () => void) => {
    change()
    decideByKind(run)
    changed(run)
    desk.redraw(focus)
  }
  const examples = doubtful(run)
  const selects = run.columns.map((column, i) => {
    const own = `metadata.${column}`
    const select = h(
      'select',
      {
        id: `column-${i}`,
        change: () =>
          set(select.id, () => {
            if (select.value === '?') delete run.map[column]
            else run.map[column] = select.value
          }),
      },
      ...[
        ['?', d('choose')],
        ...['subjectName', 'subjectId', ...SETTABLE, ...(ofKind ?? []).map(({ name }) => name)].map(
          (name) => [name, fieldLabel(name, category)],
        ),
        ...(ofKind
          ? []
          : [[run.map[column]?.startsWith('metadata.') ? run.map[column] : own, d('table.entry')]]),
        ['', d('table.leaveOut')],
      ].map(([value = '', label = '']) =>
        h('option', { value, selected: (run.map[column] ?? '?') === value }, label),
      ),
    )
    const isTwice = twice.includes(run.map[column] ?? '?')
    const meaning = field(h('bdi', {}, column), select, {
      problem: open.includes(column)
        ? d('table.undecided')
        : isTwice
          ? d('table.twice')
          : undefined,
    })
    const example = examples.get(column)
    if (example === undefined) return meaning
    const shown = h(
      'select',
      {
        id: `shown-${i}`,
        change: () =>
          set(shown.id, () => {
            if (shown.value === '') delete run.shown[column]
            else run.shown[column] = shown.value as 'text' | 'value'
          }),
      },
      ...(['', 'text', 'value'] as const).map((value) =>
        h(
          'option',
          { value, selected: (run.shown[column] ?? '') === value },
          value === ''
            ? d('choose')
            : d(`table.shown.${value}`, { [value]: quoted(example[value]) }),
        ),
      ),
    )
    const problem = run.shown[column] === undefined ? d('table.undecided') : undefined
    return h('div', {}, meaning, field(d('table.shown'), shown, { problem }))
  })
  const missing = SETTABLE.filter((name) => !taken.includes(name))
  const settings = missing.map((name) => {
    const input = h('input', {
      id: `set-${name}`,
      type: name === 'category' ? 'text' : 'date',
      autocomplete: 'off',
      list: name === 'category' ? 'kinds' : undefined,
      change: () =>
        set(input.id, () => {
          const { value } = input
          run.set[name] = name === 'category' ? categoryNamed(value) : value
        }),
    })
    const value = run.set[name] ?? ''
    input.value = name === 'category' && kindOf(value) ? kindName(value) : value
    return field(
      fieldLabel(name, category),
      input,
      name === 'expiresAt' ? { hint: d('form.expiresAt') } : {},
    )
  })
  return section(
    d('table.columns'),
    hint(d('table.columns.hint', { name: quoted(run.name) })),
    ...viewWhich(desk, run),
    h(
      'div',
      { class: 'columns' },
      ...selects,
      examples.size > 0 && viewLanguage(desk, run),
      taken.some((field) => isDate(field, category)) && viewDates(desk, run),
    ),
    settings.length > 0 && h('h3', {}, d('table.same')),
    settings.length > 0 && h('div', { class: 'columns' }, ...settings),
    h(
      'datalist',
      { id: 'kinds' },
      ...allKinds().map((kind) => h('option', { value: kindName(kind.category) })),
    ),
    h(
      'div',
      { class: 'ways' },
      h('button', { type: 'button', id: 'another', click: () => giveUp(desk) }, d('table.another')),
    ),
  )
}

/** Asks which table of the file this is, as long as its bytes are at hand. */
function viewWhich(desk: Desk, run: TableRun): HTMLElement[] {
  const { asked, choices } = run
  if (asked === undefined || choices === undefined) return []
  const trouble = viewTrouble(undefined)
  const selects = viewChoices(choices, async (chosen) => {
    const problem = await take(desk, run.name, { ...asked, ...chosen }, run)
    trouble.textContent = problem?.words ?? ''
  })
  return selects.length > 0 ? [h('div', { class: 'columns' }, ...selects), trouble] : []
}

/** Asks how a workbook shows numbers and months, as long as its bytes are at hand. */
function viewLanguage(desk: Desk, run: TableRun): HTMLElement | false {
  const { asked } = run
  if (asked === undefined) return false
  const select = h(
    'select',
    {
      id: 'file-language',
      change: () => take(desk, run.name, { ...asked, language: select.value }, run),
    },
    ...[...new Set([asked.language, ...Object.keys(LANGUAGES)])].map((tag) =>
      h('option', { value: tag, selected: tag === asked.language }, exampleIn(tag)),
    ),
  )
  return field(d('table.language'), select)
}

function exampleIn(language: string): string {
  const month = new Date(0).toLocaleDateString(language, { month: 'long', timeZone: 'UTC' })
  return `${(1234.5).toLocaleString(language, { minimumFractionDigits: 2 })} · ${month}`
}

function viewDates(desk: Desk, run: TableRun): HTMLElement {
  const select = h(
    'select',
    {
      id: 'dates',
      change: () => {
        if (select.value === '') delete run.dates
        else run.dates = select.value as 'dmy' | 'mdy'
        changed(run)
        desk.redraw('dates')
      },
    },
    ...(['', 'dmy', 'mdy'] as const).map((value) =>
      h(
        'option',
        { value, selected: (run.dates ?? '') === value },
        d(`table.dates.${value === '' ? 'iso' : value}`),
      ),
    ),
  )
  return field(d('table.dates'), select)
}

/** How the rows are issued, what that takes, and what still keeps them from it. */
function viewIssue(desk: Desk, run: TableRun): { element: HTMLElement; update(): void } {
  const mode = (value: TableRun['mode'], key: 'table.batch' | 'table.single') =>
    h(
      'label',
      { class: 'tick' },
      h('input', {
        type: 'radio',
        name: 'mode',
        value,
        checked: run.mode === value,
        change: () => {
          run.mode = value
          keepRun(run)
        },
      }),
      h(
        'span',
        {},
        h('span', { class: 'name' }, d(key)),
        h('span', { class: 'value' }, ` ${d(`${key}.hint`)}`),
      ),
    )
  const described = { type: 'button', 'aria-describedby': 'start-notes' }
  const start = h('button', {
    ...described,
    id: 'start',
    class: 'primary',
    click: () => begin(desk, run),
  })
  const cost = h(
    'button',
    { ...described, id: 'quote', click: () => askCost(desk, run) },
    d('table.cost'),
  )
  // They stand below the buttons, which must not move while somebody presses one.
  const notes = h('div', { id: 'start-notes' })
  function update(): void {
    const { good, bad } = check(run)
    const open = openColumns(run)
    start.textContent = d('table.start', { count: showNumber(good.size) })
    start.disabled = cost.disabled = good.size === 0 || open.length > 0
    notes.replaceChildren(
      ...[
        open.length > 0 && h('p', { class: 'problem' }, openWords(open)),
        bad.size > 0 && hint(d('table.badLeft', { count: showNumber(bad.size) })),
        run.cost && h('p', { id: 'cost', tabindex: '-1' }, costWords(run.cost)),
      ].filter((node) => node instanceof Node),
    )
  }
  update()
  const element = section(
    d('table.issue'),
    h(
      'fieldset',
      {},
      h('legend', {}, d('table.mode')),
      mode('batch', 'table.batch'),
      mode('single', 'table.single'),
    ),
    viewTrouble(run.trouble),
    h('div', { class: 'ways' }, start, cost),
    notes,
  )
  return { element, update }
}

/** @returns The columns whose meaning is open, or that of another one too. */
function openColumns(run: TableRun): string[] {
  const open = [...undecided(run), ...unshown(run)]
  const twice = repeated(run)
  return run.columns.filter(
    (column) => open.includes(column) || twice.includes(run.map[column] ?? ''),
  )
}

function openWords(columns: readonly string[]): string {
  const named = columns.slice(0, MAX_NAMED).map((column) => quoted(column))
  const rest = columns.length > MAX_NAMED ? ['…'] : []
  return d('table.decideFirst', { columns: [...named, ...rest].join(', ') })
}

function costWords(cost: NonNullable<TableRun['cost']>): string {
  const { fee, maxFee, single, seconds, singleSeconds } = cost
  return d('table.cost.is', {
    fee: ether(fee),
    max: ether(maxFee),
    time: duration(seconds),
    single: ether(single),
    singleTime: duration(singleSeconds),
  })
}

async function askCost(desk: Desk, run: TableRun): Promise<void> {
  delete run.trouble
  try {
    await quote(desk.client, run)
  } catch (error) {
    run.trouble = wordsOf(error)
  }
  if (desk.isAt('#/table')) desk.redraw(run.cost ? 'cost' : 'quote')
}

async function begin(desk: Desk, run: TableRun): Promise<void> {
  const { good } = check(run)
  const isYes = await ask({
    title: d('table.question', { count: showNumber(good.size) }),
    content: [h('p', {}, d('issue.final')), run.cost && h('p', {}, costWords(run.cost))],
    does: d('table.start', { count: showNumber(good.size) }),
  })
  if (!isYes) return
  run.sent = [...good.keys()]
  run.page = 0
  keepRun(run)
  await goOn(desk, run)
}
