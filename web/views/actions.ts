import { h, icon } from '../dom.ts'
import { t } from '../i18n.ts'
import type { Actions, Phase } from '../state.ts'

const PRINT = ['M7 9V4h10v5', 'M7 17H4V9h16v8h-3', 'M7 14h10v6H7z']
const SAVE = ['M12 4v11', 'm7 10.5 5 5 5-5', 'M5 20h14']
const COPY = ['M9 9h10v11H9z', 'M15 9V4H5v11h4']

/** What can be done with a verdict. */
export function viewActions(
  { subject: { publicId }, verdict }: Extract<Phase, { at: 'done' }>,
  actions: Actions,
): HTMLElement {
  const aloud = h('p', { class: 'unseen', role: 'status' })
  return h(
    'div',
    { class: 'actions' },
    aloud,
    h(
      'div',
      { class: 'ways' },
      h(
        'button',
        { type: 'button', click: () => print() },
        icon(...PRINT),
        t('print'),
      ),
      telling(aloud, COPY, t('copy'), async () =>
        (await copy(publicId)) ? t('copied') : t('copyFailed'),
      ),
      verdict.asOf !== null &&
        telling(aloud, SAVE, t('download'), async () =>
          (await actions.saveBundle()) ? t('download') : t('downloadFailed'),
        ),
    ),
    h('p', { class: 'hint' }, t('secret')),
  )
}

/** A button that says what came of it; `aloud` says it to who does not see it. */
function telling(
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

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyOverSelection(text)
  }
}

/** The old way, for pages over plain HTTP. */
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
