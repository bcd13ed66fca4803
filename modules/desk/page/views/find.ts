import type { Document, UnopenedDocument } from '#client/index.ts'
import { FormatError } from '#document/errors.ts'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { readVerifyLink } from '#document/verify-link.ts'
import { formatTable } from '#table/format.ts'
import { listedTable } from '#table/listed.ts'
import { FOR_SPREADSHEETS, MAX_ROWS } from '#table/table.ts'
import { foreign, h } from '#web/dom.ts'
import { showDate, t } from '#web/i18n.ts'
import type { Desk, View } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { kindName } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { type Filters, newSearch, type Page, type Search, sentFilters } from '../search.ts'
import { may } from '../session.ts'
import { viewByName } from './names.ts'
import {
  field,
  hint,
  saveBytes,
  statusWords,
  viewCategory,
  viewStatus,
  viewTrouble,
} from './parts.ts'
import { viewSeveral } from './several.ts'

const STATUSES = [
  'pending',
  'valid',
  'expired',
  'suspended',
  'revoked',
  'superseded',
  'distrusted',
] as const

const LIMIT = 25
/** The most that the service gives at a time. */
const MAX_LIMIT = 100

export function viewFind(desk: Desk): View {
  const { search } = desk.memory
  return {
    title: d('nav.find'),
    content: [
      h('section', {}, viewFilters(desk, search), hint(d('find.noNames'))),
      h('section', {}, viewByCode(desk)),
      h('section', {}, viewByName(desk)),
      viewFound(desk, search),
    ],
  }
}

function viewFilters(desk: Desk, search: Search): HTMLElement {
  const { filters } = search
  const input = (name: keyof Filters, properties: Record<string, string>) => {
    const element = h('input', {
      id: `find-${name}`,
      type: 'text',
      autocomplete: 'off',
      dir: 'ltr',
      ...properties,
      input: () => {
        filters[name] = element.value
      },
    })
    element.value = filters[name]
    return element
  }
  const status = h(
    'select',
    {
      id: 'find-status',
      change: () => {
        filters.status = status.value
      },
    },
    h('option', { value: '' }, d('find.any')),
    ...STATUSES.map((one) =>
      h('option', { value: one, selected: filters.status === one }, statusWords(one)),
    ),
  )
  return h(
    'form',
    {
      novalidate: true,
      submit: (event: Event) => {
        event.preventDefault()
        search.cursors = []
        find(desk, 'found')
      },
    },
    field(t('document.subjectId'), input('subjectId', { inputmode: 'numeric' })),
    h(
      'div',
      { class: 'pair' },
      field(d('find.status'), status),
      field(t('document.category'), input('category', { list: 'categories' })),
    ),
    h(
      'datalist',
      { id: 'categories' },
      ...[...desk.memory.categories].map((category) =>
        h('option', { value: category }, kindName(category)),
      ),
    ),
    h(
      'div',
      { class: 'pair' },
      field(d('find.from'), input('createdFrom', { type: 'date' })),
      field(d('find.to'), input('createdTo', { type: 'date' })),
    ),
    field(d('find.batch'), input('batchRoot', {}), { hint: d('find.batch.hint') }),
    h(
      'div',
      { class: 'ways' },
      h('button', { type: 'submit', class: 'primary' }, d('nav.find')),
      h(
        'button',
        {
          type: 'button',
          click: () => {
            desk.memory.search = newSearch()
            desk.redraw('find-subjectId')
          },
        },
        d('find.reset'),
      ),
    ),
  )
}

/** A document whose code or link is at hand. */
function viewByCode(desk: Desk): HTMLElement {
  const input = h('input', { id: 'code', type: 'text', autocomplete: 'off', dir: 'ltr' })
  const trouble = viewTrouble(undefined)
  return h(
    'form',
    {
      submit: async (event: Event) => {
        event.preventDefault()
        trouble.textContent = ''
        try {
          desk.go(`#/documents/${await hashIn(desk, input.value)}`)
        } catch (error) {
          trouble.textContent = error instanceof FormatError ? d('error.badCode') : wordsOf(error)
        }
      },
    },
    field(t('ask.label'), input),
    trouble,
    h('div', { class: 'ways' }, h('button', { type: 'submit' }, d('find.open'))),
  )
}

/** @returns The documentHash of a code or link. That of a batch document is asked for. */
async function hashIn(desk: Desk, text: string): Promise<string> {
  const trimmed = text.trim()
  if (/^0x[0-9a-f]{64}$/i.test(trimmed)) return trimmed.toLowerCase()
  const publicId = readVerifyLink(trimmed)?.publicId ?? trimmed
  const { kind, hash } = decodePublicId(publicId)
  if (kind === 'single') return toHex(hash)
  const { documentHash } = await desk.client.retrieveDocument({ path: { publicId } })
  return documentHash
}

/**
 * Asks for the page at the last cursor.
 *
 * @param isAgain Whether it is read again after a change.
 */
export async function find(desk: Desk, focus?: string, isAgain = false): Promise<void> {
  const { search } = desk.memory
  search.chosen.clear()
  if (!isAgain) delete search.report
  const cursor = search.cursors.at(-1)
  delete search.trouble
  try {
    const page = await desk.client.searchDocuments({
      body: {
        ...sentFilters(search.filters),
        ...(cursor !== undefined && { cursor }),
        limit: LIMIT,
      },
    })
    search.page = page
    for (const one of page.documents)
      if ('category' in one) desk.memory.categories.add(one.category)
  } catch (error) {
    delete search.page
    search.trouble = wordsOf(error)
  }
  if (desk.memory.search === search && desk.isAt('#/find')) desk.redraw(focus)
}

function viewFound(desk: Desk, search: Search): HTMLElement | false {
  const { page, trouble, cursors } = search
  if (trouble !== undefined) return h('section', {}, viewTrouble(trouble))
  if (page === undefined) return false
  const turn = (change: () => void, label: string) =>
    h(
      'button',
      {
        type: 'button',
        click: () => {
          change()
          find(desk, 'found')
        },
      },
      label,
    )
  const { documents, nextCursor } = page
  const opened = documents.filter((one): one is Document => 'publicId' in one)
  const several =
    opened.length > 0 && may(desk.session, 'documents:revoke')
      ? viewSeveral(desk, search, opened, () => find(desk, 'found', true))
      : undefined
  const choice = {
    chosen: search.chosen,
    ticked: () => several?.ticked(),
  }
  return h(
    'section',
    {},
    h(
      'h2',
      { id: 'found', tabindex: '-1' },
      documents.length === 0 ? d('find.none') : d('find.found'),
    ),
    documents.length > 0 && viewDocuments(documents, several && choice),
    several?.element,
    h(
      'div',
      { class: 'ways' },
      cursors.length > 0 && turn(() => cursors.pop(), d('find.newer')),
      nextCursor !== null && turn(() => cursors.push(nextCursor), d('find.older')),
      documents.length > 0 && viewSave(desk, search),
    ),
  )
}

/** Saves all that was found, of all pages. */
function viewSave(desk: Desk, search: Search): HTMLElement {
  const button = h(
    'button',
    {
      type: 'button',
      click: async () => {
        button.disabled = true
        try {
          const { columns, rows } = listedTable(await findAll(desk, search))
          saveBytes('documents.csv', formatTable(columns, rows, FOR_SPREADSHEETS), 'text/csv')
        } catch (error) {
          desk.announce(wordsOf(error))
          search.trouble = wordsOf(error)
          desk.redraw('heading')
        } finally {
          button.disabled = false
        }
      },
    },
    d('find.save'),
  )
  return button
}

async function findAll(desk: Desk, { filters }: Search): Promise<(Document | UnopenedDocument)[]> {
  const found: (Document | UnopenedDocument)[] = []
  let cursor: string | null = null
  do {
    const page: Page = await desk.client.searchDocuments({
      body: { ...sentFilters(filters), ...(cursor !== null && { cursor }), limit: MAX_LIMIT },
    })
    found.push(...page.documents)
    cursor = page.nextCursor
  } while (cursor !== null && found.length < MAX_ROWS)
  return found
}

type Choice = { chosen: Set<string>; ticked(): void }

/** A table of documents. Each row leads to one. @param choice Rows can be ticked for it. */
export function viewDocuments(
  documents: readonly (Document | UnopenedDocument)[],
  choice?: Choice,
): HTMLElement {
  const columns = [
    ...(choice ? [d('several.column')] : []),
    t('document.subjectName'),
    t('document.subjectId'),
    t('document.category'),
    t('document.issuedAt'),
    d('find.status'),
  ]
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': d('find.found') },
    h(
      'table',
      { class: 'list' },
      h('thead', {}, h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, ...documents.map((one) => viewRow(one, choice))),
    ),
  )
}

function viewTick({ documentHash, subjectName }: Document, { chosen, ticked }: Choice) {
  const box = h('input', {
    type: 'checkbox',
    'aria-label': d('several.choose', { name: quoted(subjectName) }),
    checked: chosen.has(documentHash),
    change: () => {
      if (box.checked) chosen.add(documentHash)
      else chosen.delete(documentHash)
      ticked()
    },
  })
  return h('td', {}, box)
}

function viewRow(one: Document | UnopenedDocument, choice: Choice | undefined): HTMLElement {
  const href = `#/documents/${one.documentHash}`
  if (!('subjectName' in one))
    return h(
      'tr',
      {},
      choice && h('td'),
      h('th', { scope: 'row', colspan: '4' }, h('a', { href }, d('find.unopened'))),
      h('td', {}, viewStatus(one.status)),
    )
  return h(
    'tr',
    {},
    choice && viewTick(one, choice),
    h('th', { scope: 'row' }, h('a', { href }, foreign(one.subjectName))),
    h('td', { dir: 'ltr' }, one.subjectId),
    h('td', {}, viewCategory(one.category)),
    h('td', {}, showDate(one.issuedAt.slice(0, 10))),
    h('td', {}, viewStatus(one.status)),
  )
}
