import { FIELD_TYPES, type FieldType } from '#document/kind.ts'
import { h } from '#web/dom.ts'
import { LANGUAGES, type Language, showNumber } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { categoryOf } from '../fields.ts'
import { d } from '../i18n.ts'
import { type FieldDraft, fileOf, type KindDraft, newField, placeOf } from '../kind-draft.ts'
import { readKinds } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { field, viewTrouble } from './parts.ts'

type Body = Parameters<Desk['client']['putKind']>[0]['body']

/** The form of a kind that is being defined or changed. */
export function viewKindForm(desk: Desk, draft: KindDraft): HTMLElement {
  const isBad = (path: string) =>
    draft.problems.some((one) => one.field === path || one.field.startsWith(`${path}.`))
      ? d('kinds.bad')
      : undefined
  const text = (id: string, value: string, set: (text: string) => void, dir = 'auto') => {
    const input = h('input', {
      id,
      type: 'text',
      autocomplete: 'off',
      dir,
      input: () => set(input.value),
    })
    input.value = value
    return input
  }
  /** The names in each language. */
  const names = (id: string, { texts }: KindDraft['words'], named: (text: string) => void) =>
    draft.locales.map((locale) =>
      field(
        d('kinds.name', { language: languageName(locale) }),
        text(`${id}-${locale}`, texts[locale] ?? '', (value) => {
          texts[locale] = value
          if (locale === draft.locales[0]) named(value)
        }),
      ),
    )
  const category = text(
    'kind-category',
    draft.category,
    (value) => {
      draft.category = categoryOf(value)
    },
    'ltr',
  )
  category.disabled = draft.version > 0
  category.addEventListener('change', () => {
    category.value = draft.category
  })
  const suggest = (name: string) => {
    if (draft.version > 0) return
    draft.category = shortName(name)
    category.value = draft.category
  }
  return h(
    'section',
    {},
    h(
      'form',
      {
        novalidate: true,
        submit: (event: Event) => {
          event.preventDefault()
          save(desk, draft)
        },
      },
      h(
        'fieldset',
        { class: 'form', disabled: draft.isBusy },
        h('legend', { class: 'unseen' }, d('nav.kinds')),
        viewAddLanguage(desk, draft),
        ...names('kind-name', draft.words, draft.category === '' ? suggest : () => {}),
        isBad('display') && h('p', { class: 'problem' }, isBad('display')),
        field(d('kinds.category'), category, {
          hint: d('kinds.category.hint'),
          problem: isBad('document_registry.category'),
        }),
        ...draft.fields.map((_, index) => viewField(desk, draft, index, { text, names, isBad })),
        isBad('claims') !== undefined &&
          draft.problems.some((one) => one.field === 'claims') &&
          h('p', { class: 'problem' }, d('kinds.bad')),
        h(
          'button',
          {
            type: 'button',
            id: 'add-field',
            click: () => {
              draft.fields.push(newField())
              desk.redraw(`kind-${draft.fields.length - 1}-${draft.locales[0]}`)
            },
          },
          d('form.addEntry'),
        ),
        tick('kind-expires', d('kinds.expires'), draft.isExpiring, (isOn) => {
          draft.isExpiring = isOn
        }),
        field(
          d('kinds.template'),
          text(
            'kind-template',
            draft.template,
            (value) => {
              draft.template = value
            },
            'ltr',
          ),
          { hint: d('form.optional'), problem: isBad('document_registry.template') },
        ),
      ),
      viewTrouble(draft.trouble),
      h(
        'div',
        { class: 'ways' },
        h(
          'button',
          { type: 'submit', class: 'primary', disabled: draft.isBusy },
          d('kinds.publish'),
        ),
        h(
          'button',
          {
            type: 'button',
            click: () => {
              delete desk.memory.kind
              desk.redraw('heading')
            },
          },
          d('cancel'),
        ),
      ),
    ),
  )
}

/** The longest short name that both a category and an entry may have. */
const MAX_SHORT_NAME = 64

const shortName = (name: string): string => categoryOf(categoryOf(name).slice(0, MAX_SHORT_NAME))

/** What an entry needs of the form around it. */
type Parts = {
  text(id: string, value: string, set: (text: string) => void, dir?: string): HTMLInputElement
  names(id: string, words: KindDraft['words'], named: (text: string) => void): HTMLElement[]
  isBad(path: string): string | undefined
}

function viewField(
  desk: Desk,
  draft: KindDraft,
  index: number,
  { text, names, isBad }: Parts,
): HTMLElement {
  const one = draft.fields[index] as FieldDraft
  const number = showNumber(index + 1)
  const path = `claims.${placeOf(draft, index)}`
  const key = text(
    `kind-${index}-key`,
    one.key,
    (value) => {
      one.key = value
    },
    'ltr',
  )
  const isNew = one.key === ''
  const type = h(
    'select',
    {
      id: `kind-${index}-type`,
      change: () => {
        one.type = type.value as FieldType
        desk.redraw(type.id)
      },
    },
    ...FIELD_TYPES.map((value) =>
      h('option', { value, selected: value === one.type }, d(`kinds.${value}`)),
    ),
  )
  const choices = h('textarea', {
    id: `kind-${index}-choices`,
    rows: '4',
    dir: 'auto',
    input: () => {
      one.choices = choices.value
    },
  })
  choices.value = one.choices
  const move = (by: number, focus: string) => {
    draft.fields.splice(index, 1)
    if (by !== 0) draft.fields.splice(index + by, 0, one)
    desk.redraw(focus)
  }
  return h(
    'fieldset',
    { class: 'form boxed' },
    h('legend', {}, d('kinds.field', { number })),
    ...names(`kind-${index}`, one.words, (name) => {
      if (!isNew) return
      one.key = shortName(name)
      key.value = one.key
    }),
    isBad(`${path}.display`) && h('p', { class: 'problem' }, d('kinds.bad')),
    field(d('kinds.field.key'), key, { problem: isBad(`${path}.path`) }),
    field(d('kinds.field.type'), type),
    one.type === 'choice' &&
      field(d('kinds.choices'), choices, { problem: isBad(`${path}.document_registry`) }),
    tick(`kind-${index}-required`, d('kinds.required'), one.isRequired, (isOn) => {
      one.isRequired = isOn
    }),
    h(
      'div',
      { class: 'ways' },
      index > 0 &&
        h(
          'button',
          {
            type: 'button',
            id: `kind-${index}-up`,
            'aria-label': d('kinds.up', { number }),
            click: () => move(-1, `kind-${index - 1}-key`),
          },
          '↑',
        ),
      h(
        'button',
        {
          type: 'button',
          'aria-label': d('form.removeEntry', { number }),
          click: () => move(0, 'add-field'),
        },
        '×',
      ),
    ),
  )
}

function tick(
  id: string,
  label: string,
  checked: boolean,
  set: (isOn: boolean) => void,
): HTMLElement {
  const input = h('input', { id, type: 'checkbox', checked, change: () => set(input.checked) })
  return h('label', { class: 'tick' }, input, h('span', {}, label))
}

function viewAddLanguage(desk: Desk, draft: KindDraft): HTMLElement | false {
  const others = Object.keys(LANGUAGES).filter((tag) => !draft.locales.includes(tag))
  const select = h(
    'select',
    {
      id: 'kind-language',
      change: () => {
        draft.locales.push(select.value)
        desk.redraw(`kind-name-${select.value}`)
      },
    },
    ...['', ...others].map((tag) =>
      h('option', { value: tag }, tag === '' ? d('choose') : languageName(tag)),
    ),
  )
  return others.length > 0 && field(d('kinds.language'), select)
}

/** @returns The language's own name; its tag, if the page does not speak it. */
const languageName = (tag: string): string =>
  Object.hasOwn(LANGUAGES, tag) ? LANGUAGES[tag as Language].name : tag

async function save(desk: Desk, draft: KindDraft): Promise<void> {
  const made = fileOf(draft)
  draft.problems = 'problems' in made ? made.problems : []
  delete draft.trouble
  if ('problems' in made) {
    draft.trouble = d('kinds.bad')
    desk.redraw()
    document.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
    return
  }
  draft.isBusy = true
  desk.redraw('heading')
  try {
    const { category, version } = draft
    const body = made.file as Body
    await desk.client.putKind({ path: { category }, query: { version: String(version) }, body })
    await readKinds(desk.client)
    delete desk.memory.kind
    desk.announce(d('kinds.saved'))
  } catch (error) {
    draft.trouble = wordsOf(error)
  } finally {
    draft.isBusy = false
  }
  if (desk.isAt('#/kinds')) desk.redraw('heading')
}
