import { type DocumentPart, metadataOf } from '#document/document.ts'
import type { Kind } from '#document/kind.ts'
import type { Choice } from '#document/presentation.ts'
import { foreign, h, icon } from '../dom.ts'
import { type Excerpt, makeExcerpt } from '../excerpt.ts'
import { t } from '../i18n.ts'
import { isExcerpt } from '../input.ts'
import { labelOf } from '../kinds.ts'
import type { Actions, Done } from '../state.ts'
import { COPY, copy, SAVE, telling } from './actions.ts'
import { inIssuersWords, shownFields } from './document.ts'
import { viewQr } from './qr-code.ts'

/**
 * Shows the form in which the holder of a valid document makes an excerpt, with one checkbox for
 * each field.
 *
 * @param kind What the issuer calls its own fields.
 */
export function viewShare(
  phase: Done,
  actions: Actions,
  kind: Kind | undefined,
): HTMLElement | false {
  const { verdict, subject, live } = phase
  const { fields, status } = verdict
  if (!live || status !== 'valid' || fields === null || isExcerpt(subject)) return false
  const result = h('div', { class: 'result' })
  const problem = h('p', {
    id: 'share-problem',
    class: 'problem',
    role: 'alert',
  })
  const { boxes, choose } = viewChoice(fields, kind)

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    const choice = choose()
    const isEmpty = choice.fields.length + choice.metadata.length === 0
    problem.textContent = isEmpty ? t('share.none') : ''
    if (isEmpty) return
    result.replaceChildren(viewExcerpt(await makeExcerpt(phase, choice), actions))
    result.querySelector('h3')?.focus()
  }
  /** The shown excerpt always matches the ticked fields. */
  function change(): void {
    problem.textContent = ''
    result.replaceChildren()
  }
  return h(
    'section',
    { class: 'share', 'aria-labelledby': 'share' },
    h(
      'details',
      {},
      h('summary', {}, h('h2', { id: 'share' }, t('share.heading'))),
      h(
        'form',
        { submit, change },
        h('p', {}, t('share.lead')),
        h(
          'fieldset',
          { 'aria-describedby': 'share-problem' },
          h('legend', {}, t('share.fields')),
          ...boxes,
        ),
        h('p', { class: 'notice' }, t('share.learns')),
        problem,
        h('button', { type: 'submit', class: 'primary' }, t('share.make')),
      ),
      result,
    ),
  )
}

/** @returns The checkboxes, and a function that reads them. */
function viewChoice(
  fields: DocumentPart,
  kind: Kind | undefined,
): {
  boxes: HTMLElement[]
  choose: () => Choice
} {
  const ofFields = shownFields(fields).map(({ name, value }) =>
    viewBox(name, t(`document.${name}`), value),
  )
  const ofMetadata = metadataOf(fields).map(([name, value]) =>
    viewBox(name, inIssuersWords(labelOf(kind, `metadata.${name}`), foreign(name)), foreign(value)),
  )
  const ticked = (boxes: typeof ofFields) =>
    boxes.filter(({ input }) => input.checked).map(({ name }) => name)
  return {
    boxes: [...ofFields, ...ofMetadata].map(({ label }) => label),
    choose: () => ({ fields: ticked(ofFields), metadata: ticked(ofMetadata) }),
  }
}

function viewBox(name: string, title: string | HTMLElement, value: string | HTMLElement) {
  const input = h('input', { type: 'checkbox' })
  const label = h(
    'label',
    { class: 'tick' },
    input,
    h('span', {}, h('span', { class: 'name' }, title), ' ', h('span', { class: 'value' }, value)),
  )
  return { name, input, label }
}

/** Shows the excerpt as a file, a link, and a QR code if it fits. */
function viewExcerpt({ file, link }: Excerpt, actions: Actions): HTMLElement {
  const aloud = h('p', { class: 'unseen', role: 'status' })
  const code = link === undefined ? undefined : viewQr(link, t('share.qr'))
  return h(
    'div',
    {},
    aloud,
    h('h3', { tabindex: '-1' }, t('share.ready')),
    h(
      'div',
      { class: 'ways' },
      h(
        'button',
        { type: 'button', click: () => actions.saveFile(file) },
        icon(...SAVE),
        t('share.file'),
      ),
      link !== undefined &&
        telling(aloud, COPY, t('share.link'), async () =>
          (await copy(link)) ? t('copied') : t('copyFailed'),
        ),
    ),
    code,
    code === undefined &&
      h('p', { class: 'hint' }, t(link === undefined ? 'share.noLink' : 'share.noQr')),
  )
}
