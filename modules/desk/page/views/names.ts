import { foreign, h } from '#web/dom.ts'
import { showNumber, t } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { findNamed, type NamedRow, readNamed } from '../named.ts'
import { beginRemembering, endRemembering, isRemembering, remembered } from '../remembered.ts'
import { may } from '../session.ts'
import { ask } from './dialog.ts'
import { field, viewTrouble } from './parts.ts'

/**
 * Finds documents by name in tables of results, whose names stay in this tab, and among the names
 * that this browser keeps.
 */
export function viewByName(desk: Desk): HTMLElement {
  const place = h('div', {})
  const trouble = viewTrouble(undefined)
  const draw = () => place.replaceChildren(...viewNames(desk))
  const opener = (id: string, isFolder: boolean) => {
    const input = h('input', {
      id,
      type: 'file',
      accept: '.csv,text/csv',
      multiple: true,
      change: async () => {
        const files = [...(input.files ?? [])].filter(({ name }) => /\.csv$/i.test(name))
        const { rows, unread } = await readNamed(files)
        desk.memory.named = rows
        trouble.textContent =
          unread.length > 0 ? d('names.unread', { names: unread.join(', ') }) : ''
        draw()
      },
    })
    input.webkitdirectory = isFolder
    return input
  }
  draw()
  return h(
    'details',
    { open: desk.memory.named !== undefined || isRemembering(desk.session) },
    h('summary', {}, d('names.heading')),
    field(d('names.files'), opener('names-files', false), { hint: d('names.hint') }),
    field(d('names.folder'), opener('names-folder', true)),
    trouble,
    may(desk.session, 'documents:issue') && viewSwitch(desk, draw),
    place,
  )
}

/** Whether this browser keeps the names of what is issued from now on. */
function viewSwitch({ session }: Desk, draw: () => void): HTMLElement {
  const trouble = viewTrouble(undefined)
  const box = h('input', {
    type: 'checkbox',
    id: 'names-keep',
    'aria-describedby': 'names-keep-hint',
    checked: isRemembering(session),
    change: async () => {
      trouble.textContent = ''
      if (!box.checked) {
        box.checked = !(await ask(questionFor(remembered(session).length)))
        if (!box.checked) endRemembering(session)
      } else if (!beginRemembering(session)) {
        box.checked = false
        trouble.textContent = d('names.keep.failed')
      }
      draw()
    },
  })
  return h(
    'div',
    { class: 'field' },
    h('label', { class: 'tick' }, box, h('span', {}, d('names.keep'))),
    h('p', { class: 'hint', id: 'names-keep-hint' }, d('names.keep.hint')),
    trouble,
  )
}

const questionFor = (count: number) => ({
  title: d('names.forget.question', { count: showNumber(count) }),
  content: [h('p', {}, d('names.forget.text'))],
  does: d('names.forget'),
  isFinal: true,
})

/** @returns The rows of opened tables and those that this browser keeps, each document once. */
function namesOf({ memory, session }: Desk): NamedRow[] {
  const rows = [...remembered(session), ...(memory.named ?? [])]
  return [...new Map(rows.map((row) => [row.documentHash, row])).values()]
}

function viewNames(desk: Desk): HTMLElement[] {
  if (desk.memory.named === undefined && !isRemembering(desk.session)) return []
  const named = namesOf(desk)
  const found = h('ul', { class: 'rows' })
  const input = h('input', {
    id: 'names-text',
    type: 'text',
    autocomplete: 'off',
    dir: 'auto',
    input: () =>
      found.replaceChildren(
        ...findNamed(named, input.value).map(({ name, subjectId, documentHash }) =>
          h(
            'li',
            {},
            h('a', { href: `#/documents/${documentHash}` }, foreign(name)),
            ' ',
            foreign(subjectId),
          ),
        ),
      ),
  })
  return [
    h('p', { role: 'status' }, d('names.read', { count: showNumber(named.length) })),
    field(t('document.subjectName'), input),
    found,
  ]
}
