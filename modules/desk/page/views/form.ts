import type { FieldProblem } from '#document/errors.ts'
import type { PlainField } from '#document/kind.ts'
import { h } from '#web/dom.ts'
import { t } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import type { Typed } from '../fields.ts'
import { d } from '../i18n.ts'
import type { Issuing } from '../issuing.ts'
import { entriesOf, fieldLabel, fieldOf } from '../kinds.ts'
import { problemWords } from '../problems.ts'
import { viewCategoryField, viewKindEntries } from './kind-fields.ts'
import { field, hint, viewNotice, viewTrouble } from './parts.ts'

/** The texts of a form, and what its buttons do. */
type Draft = {
  submit(): void
  changed(): void
  /** The text while it is being sent. */
  busy: string
  /** The text of the button that sends it. */
  check: string
  /** The button that leaves it. */
  leave: HTMLElement
}

/**
 * The form of a document that is being typed or issued.
 *
 * @param hints Elements over the fields and under the buttons.
 */
export function viewDraft(
  desk: Desk,
  { typed, problems, isSent, isBusy, trouble }: Issuing,
  { submit, changed, busy, check, leave }: Draft,
  hints: { before?: HTMLElement; after?: HTMLElement },
): HTMLElement {
  return h(
    'section',
    {},
    h(
      'form',
      {
        novalidate: true,
        submit: (event: Event) => {
          event.preventDefault()
          submit()
        },
      },
      hints.before,
      isSent && !isBusy && viewNotice(d('issue.unknown')),
      viewForm(desk, { typed, problems, isLocked: isSent || isBusy, changed }),
      viewTrouble(trouble),
      isBusy && h('p', { role: 'status', id: 'busy', tabindex: '-1' }, busy),
      h(
        'div',
        { class: 'ways' },
        h(
          'button',
          { type: 'submit', id: 'submit', class: 'primary', disabled: isBusy },
          isSent ? t('retry') : check,
        ),
        leave,
      ),
      hints.after,
    ),
  )
}

type Form = {
  typed: Typed
  problems: readonly FieldProblem[]
  /** Whether nothing can be changed now. */
  isLocked: boolean
  /** Called after each change. */
  changed(): void
}

/** The fields of a document. Their input goes into `typed`. */
export function viewForm(desk: Desk, form: Form): HTMLElement {
  const { typed, problems, isLocked, changed } = form
  const problemOf = (name: PlainField) =>
    problems.some((one) => one.field === name)
      ? problemWords(name, typed[name], typed.category)
      : undefined
  const label = (name: PlainField) => fieldLabel(name, typed.category)
  const isExpiring = fieldOf('expiresAt', typed.category)?.isRequired === true
  const input = (name: PlainField, properties: Record<string, string> = {}) => {
    const element = h('input', {
      id: name,
      type: 'text',
      autocomplete: 'off',
      ...properties,
      input: () => {
        typed[name] = element.value
        changed()
      },
    })
    element.value = typed[name]
    return element
  }
  return h(
    'fieldset',
    { class: 'form', disabled: isLocked },
    h('legend', { class: 'unseen' }, t('document.heading')),
    field(label('subjectName'), input('subjectName', { dir: 'auto' }), {
      problem: problemOf('subjectName'),
      hint: d('form.subjectName'),
    }),
    field(label('subjectId'), input('subjectId', { inputmode: 'numeric', dir: 'ltr' }), {
      problem: problemOf('subjectId'),
      hint: d('form.subjectId'),
    }),
    viewCategoryField(desk, form, problemOf('category')),
    h(
      'div',
      { class: 'pair' },
      field(label('issuedAt'), input('issuedAt', { type: 'date', max: '9999-12-30' }), {
        problem: problemOf('issuedAt'),
      }),
      field(label('expiresAt'), input('expiresAt', { type: 'date', max: '9999-12-30' }), {
        problem: problemOf('expiresAt'),
        hint: isExpiring ? undefined : d('form.expiresAt'),
      }),
    ),
    viewKindEntries(form),
    viewEntries(desk, form),
  )
}

/** Further entries: a name and a value in each row. */
function viewEntries(desk: Desk, { typed, problems, changed }: Form): HTMLElement | false {
  const ofKind = entriesOf(typed.category)
  const isOfKind = (key: string) => ofKind?.some(({ name }) => name === `metadata.${key.trim()}`)
  const others = typed.entries.filter(({ name }) => !isOfKind(name))
  if (ofKind && others.length === 0) return false
  const isBad = problems.some(({ field }) => field.startsWith('metadata'))
  const badNames = problems.map(({ field }) => field.replace(/^metadata\.?/, ''))
  const rows = others.map((entry, i) => {
    const cell = (part: 'name' | 'value', label: string) => {
      const element = h('input', {
        id: `entry-${i}-${part}`,
        type: 'text',
        autocomplete: 'off',
        dir: 'auto',
        'aria-label': label,
        'aria-invalid': isBad && badNames.includes(entry.name) ? 'true' : undefined,
        input: () => {
          entry[part] = element.value
          changed()
        },
      })
      element.value = entry[part]
      return element
    }
    const number = String(i + 1)
    return h(
      'div',
      { class: 'entry' },
      cell('name', d('form.entryName', { number })),
      cell('value', d('form.entryValue', { number })),
      h(
        'button',
        {
          type: 'button',
          'aria-label': d('form.removeEntry', { number }),
          click: () => {
            typed.entries.splice(typed.entries.indexOf(entry), 1)
            changed()
            desk.redraw(ofKind ? 'category' : 'add-entry')
          },
        },
        '×',
      ),
    )
  })
  return h(
    'fieldset',
    { class: 'entries' },
    h('legend', {}, t('document.metadata')),
    !ofKind && hint(d('form.entries')),
    ...rows,
    ofKind && h('p', { class: 'problem' }, d('bad.notOfKind')),
    isBad && !ofKind && h('p', { class: 'problem' }, d('bad.metadata')),
    !ofKind &&
      h(
        'button',
        {
          type: 'button',
          id: 'add-entry',
          click: () => {
            typed.entries.push({ name: '', value: '' })
            changed()
            desk.redraw(`entry-${typed.entries.length - 1}-name`)
          },
        },
        d('form.addEntry'),
      ),
  )
}

/** @returns The id of the first field with a problem. */
export function firstBad(
  problems: readonly FieldProblem[],
  { category }: Typed,
): string | undefined {
  const order = ['subjectName', 'subjectId', 'category', 'issuedAt', 'expiresAt']
  const found = order.find((name) => problems.some((one) => one.field === name))
  if (found !== undefined) return found
  const ofKind = entriesOf(category)?.find(({ name }) =>
    problems.some(({ field }) => field === name),
  )
  if (ofKind) return `field-${ofKind.name}`
  return problems.length > 0 ? 'add-entry' : undefined
}
