import { h, icon } from './dom.ts'
import { t } from './i18n.ts'
import type { Actions } from './state.ts'

const PRINT = ['M7 9V4h10v5', 'M7 17H4V9h16v8h-3', 'M7 14h10v6H7z']
const SAVE = ['M12 4v11', 'm7 10.5 5 5 5-5', 'M5 20h14']
const COPY = ['M9 9h10v11H9z', 'M15 9V4H5v11h4']

/** What can be done with a verdict. */
export function viewActions(publicId: string, actions: Actions): HTMLElement {
  return h(
    'div',
    { class: 'actions' },
    h(
      'div',
      { class: 'ways' },
      h(
        'button',
        { type: 'button', click: () => print() },
        icon(...PRINT),
        t('print'),
      ),
      telling(COPY, t('copy'), async () =>
        (await copy(publicId)) ? t('copied') : t('copyFailed'),
      ),
      telling(SAVE, t('download'), async () =>
        (await actions.saveBundle()) ? t('download') : t('downloadFailed'),
      ),
    ),
    h('p', { class: 'hint' }, t('secret')),
  )
}

/** A button that says what came of it, aloud too. */
function telling(
  shape: string[],
  text: string,
  act: () => Promise<string>,
): HTMLElement {
  const said = h('span', { role: 'status' }, text)
  return h(
    'button',
    {
      type: 'button',
      click: async () => {
        said.textContent = await act()
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
