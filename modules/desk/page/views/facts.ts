import { type DocumentFields, metadataOf } from '#document/document.ts'
import { PLAIN_FIELDS } from '#document/kind.ts'
import { foreign, h } from '#web/dom.ts'
import { showDate } from '#web/i18n.ts'
import { shownFields } from '#web/views/document.ts'
import type { Typed } from '../fields.ts'
import { d } from '../i18n.ts'
import { fieldLabel, kindName } from '../kinds.ts'

/** What a document says. Its own texts are shown as text, isolated from ours. */
export function viewFacts(fields: Partial<DocumentFields>): HTMLElement {
  const { category = '' } = fields
  const rows = [
    ...shownFields(withoutTime(fields)).map(
      ({ name, value }) =>
        [
          foreign(fieldLabel(name, category)),
          name === 'category' ? foreign(kindName(category)) : value,
        ] as const,
    ),
    ...metadataOf(fields).map(
      ([name, value]) =>
        [foreign(fieldLabel(`metadata.${name}`, category)), foreign(value)] as const,
    ),
  ]
  return h(
    'dl',
    {},
    ...rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  )
}

/** @returns The fields with dates as YYYY-MM-DD; an answer has a time behind them. */
function withoutTime<T extends Partial<DocumentFields>>(fields: T): T {
  const { issuedAt, expiresAt } = fields
  return {
    ...fields,
    ...(issuedAt !== undefined && { issuedAt: issuedAt.slice(0, 10) }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt.slice(0, 10) }),
  }
}

/** What a correction changes, side by side. `undefined` if nothing. */
export function viewChanges(before: Typed, after: Typed): HTMLElement | undefined {
  const plain = PLAIN_FIELDS.map((name) => [
    fieldLabel(name, after.category),
    inWords(name, before[name]),
    inWords(name, after[name].trim()),
  ])
  const valuesOf = ({ entries }: Typed) =>
    new Map(entries.map(({ name, value }) => [name.trim(), value.trim()]))
  const [old, young] = [valuesOf(before), valuesOf(after)]
  const entries = [...new Set([...old.keys(), ...young.keys()])]
    .filter((name) => name !== '')
    .map((name) => [
      fieldLabel(`metadata.${name}`, after.category),
      old.get(name) ?? '',
      young.get(name) ?? '',
    ])
  const changed = [...plain, ...entries].filter(([, a, b]) => a !== b)
  if (changed.length === 0) return undefined
  return h(
    'table',
    { class: 'changes' },
    h(
      'thead',
      {},
      h('tr', {}, ...['changes.field', 'changes.before', 'changes.after'].map(header)),
    ),
    h(
      'tbody',
      {},
      ...changed.map(([name = '', a = '', b = '']) =>
        h('tr', {}, h('th', { scope: 'row' }, foreign(name)), cell(a), cell(b)),
      ),
    ),
  )
}

function header(key: string): HTMLElement {
  return h('th', { scope: 'col' }, d(key as 'changes.field'))
}

function cell(text: string): HTMLElement {
  return h('td', {}, text === '' ? h('span', { class: 'hint' }, d('changes.none')) : foreign(text))
}

function inWords(name: string, text: string): string {
  return text !== '' && name.endsWith('At') ? showDate(text) : text
}
