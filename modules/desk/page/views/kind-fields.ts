import type { FieldProblem } from '#document/errors.ts'
import { type KindField, wordsIn } from '#document/kind.ts'
import { foreign, h } from '#web/dom.ts'
import { currentLanguage, t } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { type Typed, withPoint } from '../fields.ts'
import { d } from '../i18n.ts'
import type { Issuing } from '../issuing.ts'
import { allKinds, categoryNamed, entriesOf, fieldLabel, kindName, kindOf } from '../kinds.ts'
import { problemWords } from '../problems.ts'
import { field } from './parts.ts'

/** What is typed, and what is wrong with it. */
type Form = Pick<Issuing, 'typed'> & {
  problems: readonly FieldProblem[]
  /** Called after each change. */
  changed(): void
}

/** Where the kind of a document is chosen, or typed. */
export function viewCategoryField(
  desk: Desk,
  { typed, changed }: Form,
  problem: string | undefined,
): HTMLElement {
  const { categories } = desk.session.person
  const listed = categories ?? allKinds().map(({ category }) => category)
  const set = (category: string) => {
    typed.category = category
    changed()
  }
  const isOther = isOtherKind(typed) && categories === null
  if (listed.length === 0) return viewOtherKind(desk, { typed, set, problem, id: 'category' })
  const choices = [
    ['', d('choose')],
    ...listed.map((category) => [category, kindName(category)]),
    ...(categories === null ? [[OTHER, d('form.otherKind')]] : []),
  ]
  const select = h(
    'select',
    {
      id: 'category',
      change: () => {
        typed.isOther = select.value === OTHER
        set(typed.isOther ? '' : select.value)
        desk.redraw(typed.isOther ? 'other-kind' : 'category')
      },
    },
    ...choices.map(([value = '', label = '']) =>
      h('option', { value, selected: value === (isOther ? OTHER : typed.category) }, label),
    ),
  )
  if (!isOther) return field(t('document.category'), select, { problem })
  const other = viewOtherKind(desk, { typed, set, problem, id: 'other-kind' })
  return h('div', {}, field(t('document.category'), select), other)
}

/** Stands for a kind that the service does not have, which is then typed. No category has it. */
const OTHER = '?'

const isOtherKind = ({ isOther, category }: Typed): boolean =>
  isOther ?? (category !== '' && kindOf(category) === undefined)

/** Where a category is typed. */
function viewOtherKind(
  desk: Desk,
  of: { typed: Typed; set(category: string): void; problem: string | undefined; id: string },
): HTMLElement {
  const { typed, set, problem, id } = of
  const input = h('input', {
    id,
    type: 'text',
    autocomplete: 'off',
    list: 'categories',
    dir: 'ltr',
    input: () => set(categoryNamed(input.value)),
    change: () => {
      input.value = typed.category
      if (kindOf(typed.category)) {
        typed.isOther = false
        desk.redraw('category')
      }
    },
  })
  input.value = typed.category
  return h(
    'div',
    {},
    field(id === 'category' ? t('document.category') : d('form.otherKind.name'), input, {
      problem,
      hint: d('form.category'),
    }),
    h(
      'datalist',
      { id: 'categories' },
      ...[...desk.memory.categories].map((category) => h('option', { value: category })),
    ),
  )
}

/** The entries that the kind of the document has, each with its own field. */
export function viewKindEntries({ typed, problems, changed }: Form): HTMLElement | false {
  const { category } = typed
  const fields = entriesOf(category) ?? []
  return (
    fields.length > 0 &&
    h(
      'fieldset',
      { class: 'form boxed' },
      h('legend', {}, kindName(category)),
      ...fields.map((one) => {
        const key = one.name.slice('metadata.'.length)
        const value = typed.entries.find(({ name }) => name === key)?.value ?? ''
        const input = viewKindInput(one, value, (text) => {
          setEntry(typed, key, text)
          changed()
        })
        const isBad = problems.some(({ field }) => field === one.name)
        const more = wordsIn(one.display, currentLanguage())?.description
        return field(foreign(fieldLabel(one.name, category)), input, {
          hint:
            [more, !one.isRequired && d('form.optional')].filter(Boolean).join(' · ') || undefined,
          problem: isBad ? problemWords(one.name, value, category) : undefined,
        })
      }),
    )
  )
}

const INPUTS = {
  text: { type: 'text', dir: 'auto' },
  date: { type: 'date', max: '9999-12-31' },
  number: { type: 'text', inputmode: 'decimal', dir: 'ltr' },
}

function viewKindInput(
  { name, type, choices = [], isRequired }: KindField,
  value: string,
  set: (text: string) => void,
): HTMLElement {
  const id = `field-${name}`
  const required = { 'aria-required': isRequired ? 'true' : undefined }
  if (type === 'choice') {
    const select = h(
      'select',
      { id, ...required, change: () => set(select.value) },
      ...['', ...choices].map((choice) =>
        h(
          'option',
          { value: choice, selected: choice === value },
          choice === '' ? d('choose') : choice,
        ),
      ),
    )
    return select
  }
  const input = h('input', {
    id,
    autocomplete: 'off',
    ...required,
    ...INPUTS[type],
    input: () => set(input.value),
    change: () => {
      if (type === 'number') input.value = withPoint(input.value)
      set(input.value)
    },
  })
  input.value = value
  return input
}

/** An empty entry is none. */
function setEntry(typed: Typed, key: string, value: string): void {
  const found = typed.entries.find(({ name }) => name === key)
  if (value === '') typed.entries = typed.entries.filter((entry) => entry !== found)
  else if (found) found.value = value
  else typed.entries.push({ name: key, value })
}
