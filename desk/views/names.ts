import { foreign, h } from '#web/dom.ts'
import { showNumber } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { findNamed, readNamed } from '../named.ts'
import { field, viewTrouble } from './parts.ts'

/** Finds documents by name in tables of results. The names stay in this tab. */
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
    { open: desk.memory.named !== undefined },
    h('summary', {}, d('names.heading')),
    field(d('names.files'), opener('names-files', false), { hint: d('names.hint') }),
    field(d('names.folder'), opener('names-folder', true)),
    trouble,
    place,
  )
}

function viewNames({ memory }: Desk): HTMLElement[] {
  const { named } = memory
  if (named === undefined) return []
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
    field(d('people.name'), input),
    found,
  ]
}
