import { type DocumentPart, metadataOf } from '#document/document.ts'
import type { Kind } from '#document/kind.ts'
import { foreign, h } from '../dom.ts'
import { doubtOf, isToCompare } from '../doubt.ts'
import { showDate, t } from '../i18n.ts'
import { isExcerpt } from '../input.ts'
import { labelOf, nameOf } from '../kinds.ts'
import type { Done } from '../state.ts'
import { viewAlert } from './alert.ts'

/**
 * Shows the document's fields as text; for an excerpt, the disclosed ones.
 *
 * @param kind What the issuer calls its own fields. Ours keep our names, whatever it says.
 */
export function viewDocument(phase: Done, kind: Kind | undefined): HTMLElement | false {
  const { verdict, subject } = phase
  const { fields, checks, status } = verdict
  if (fields === null) {
    const isUnread = checks.some(
      ({ check, outcome }) => check === 'payload' && outcome === 'unknown',
    )
    // The verdict already reports a document that could not be checked.
    return (
      isUnread && status !== 'unverifiable' && section('document', h('p', {}, t('document.unread')))
    )
  }
  const ofExcerpt = isExcerpt(subject)
  const shown = ofExcerpt ? shownFields(fields) : allFields(fields)
  const isEmpty = shown.length + metadataOf(fields).length === 0
  return section(
    ofExcerpt ? 'excerpt' : 'document',
    ofExcerpt && h('p', { class: 'only' }, t(isEmpty ? 'excerpt.nothing' : 'excerpt.only')),
    doubtOf(phase) === 'pdf' && h('p', {}, t('document.valid')),
    isToCompare(phase) && viewAlert('compare', t('document.compare')),
    ...viewFields(shown, fields, kind),
  )
}

/** @param shown Those of the fields that are not metadata. */
export function viewFields(
  shown: readonly Field[],
  fields: DocumentPart,
  kind: Kind | undefined,
): (HTMLElement | false)[] {
  const metadata = metadataOf(fields)
  const isNamed = metadata.some(([name]) => labelOf(kind, `metadata.${name}`) !== undefined)
  return [
    shown.length > 0 &&
      h(
        'dl',
        {},
        ...shown.map(({ name, value }) =>
          entry(
            t(`document.${name}`),
            name === 'category' ? inIssuersWords(nameOf(kind), value) : value,
          ),
        ),
      ),
    metadata.length > 0 && h('h3', {}, t('document.metadata')),
    metadata.length > 0 &&
      h(
        'dl',
        {},
        ...metadata.map(([name, value]) =>
          entry(inIssuersWords(labelOf(kind, `metadata.${name}`), foreign(name)), foreign(value)),
        ),
      ),
    (isNamed || (fields.category !== undefined && kind !== undefined)) &&
      h('p', { class: 'hint' }, t('document.issuersWords')),
  ]
}

type Name = Exclude<keyof DocumentPart, 'metadata'>
type Field = { name: Name; value: string | HTMLElement }

/** The fields in the order of a printed document. */
const ORDER: Name[] = [
  'subjectName',
  'subjectId',
  'category',
  'issuedAt',
  'expiresAt',
  'supersedes',
]

/** @returns The present fields, formatted. */
export function shownFields(fields: DocumentPart): Field[] {
  return ORDER.flatMap((name) => {
    const value = fields[name]
    return value === undefined ? [] : [{ name, value: shown(name, value) }]
  })
}

/** @returns The fields of a whole document. */
export function allFields(fields: DocumentPart): Field[] {
  const shown = shownFields(fields)
  if (fields.expiresAt !== undefined) return shown
  return [...shown, { name: 'expiresAt', value: t('document.never') }]
}

function shown(name: Name, value: string): string | HTMLElement {
  if (name === 'issuedAt' || name === 'expiresAt') return showDate(value)
  return foreign(name === 'category' ? inWords(value) : value)
}

/** @param own What the document itself says, which is shown too. */
export function inIssuersWords(
  words: string | undefined,
  own: string | HTMLElement,
): string | HTMLElement {
  const isSame = words === (typeof own === 'string' ? own : own.textContent)
  if (words === undefined || isSame) return own
  return h('span', {}, foreign(words), ' ', h('small', { class: 'own-name' }, own))
}

function section(kind: 'document' | 'excerpt', ...content: (Node | false)[]): HTMLElement {
  return h(
    'section',
    { class: `document ${kind}`, 'aria-labelledby': 'document' },
    h('h2', { id: 'document' }, t(`${kind}.heading`)),
    ...content,
  )
}

function entry(name: string | HTMLElement, value: string | HTMLElement): HTMLElement {
  return h('div', {}, h('dt', {}, name), h('dd', {}, value))
}

/** @returns Words such as “Birth certificate” for `birth_certificate`. */
export function inWords(category: string): string {
  const words = category.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
