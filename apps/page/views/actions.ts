import { h, icon } from '../dom.ts'
import { t } from '../i18n.ts'
import { isExcerpt } from '../input.ts'
import type { Actions, Done } from '../state.ts'

export const COPY = ['M9 9h10v11H9z', 'M15 9V4H5v11h4']
export const SAVE = ['M12 4v11', 'm7 10.5 5 5 5-5', 'M5 20h14']
const PRINT = ['M7 9V4h10v5', 'M7 17H4V9h16v8h-3', 'M7 14h10v6H7z']

/** The actions below a verdict. */
export function viewActions({ subject, verdict }: Done, actions: Actions): HTMLElement {
  const ofExcerpt = isExcerpt(subject)
  const saving = ofExcerpt ? 'excerpt.save' : 'download'
  const aloud = h('p', { class: 'unseen', role: 'status' })
  return h(
    'div',
    { class: 'actions' },
    aloud,
    h(
      'div',
      { class: 'ways' },
      // A print would be about a document that nobody has.
      verdict.status !== 'not_issued' &&
        h('button', { type: 'button', click: () => print() }, icon(...PRINT), t('print')),
      !ofExcerpt &&
        telling(aloud, COPY, t('copy'), async () =>
          (await copy(subject.publicId)) ? t('copied') : t('copyFailed'),
        ),
      (ofExcerpt || verdict.asOf !== null) &&
        telling(aloud, SAVE, t(saving), async () =>
          (await actions.saveProof()) ? t(saving) : t('downloadFailed'),
        ),
    ),
    h('p', { class: 'hint' }, t(ofExcerpt ? 'excerpt.passOn' : 'secret')),
  )
}

/** Makes a button that shows its result; `aloud` announces it to screen readers. */
export function telling(
  aloud: HTMLElement,
  shape: string[],
  text: string,
  act: () => Promise<string>,
): HTMLElement {
  const said = h('span', {}, text)
  return h(
    'button',
    {
      type: 'button',
      click: async () => {
        const outcome = await act()
        said.textContent = outcome
        aloud.textContent = outcome
      },
    },
    icon(...shape),
    said,
  )
}

export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyOverSelection(text)
  }
}

/** Uses the old API, for pages over plain HTTP. */
function copyOverSelection(text: string): boolean {
  const field = h('textarea', { class: 'unseen', readonly: true })
  field.value = text
  document.body.append(field)
  const before = document.activeElement
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}
