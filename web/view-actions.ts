import { h, icon } from './dom.ts'
import { t } from './i18n.ts'

const PRINT = ['M7 9V4h10v5', 'M7 17H4V9h16v8h-3', 'M7 14h10v6H7z']
const COPY = ['M9 9h10v11H9z', 'M15 9V4H5v11h4']

/** What can be done with a verdict. */
export function viewActions(publicId: string): HTMLElement {
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
      copyButton(publicId),
    ),
    h('p', { class: 'hint' }, t('secret')),
  )
}

function copyButton(publicId: string): HTMLElement {
  const said = h('span', { role: 'status' }, t('copy'))
  return h(
    'button',
    {
      type: 'button',
      click: async () => {
        const done = await copy(publicId)
        said.textContent = t(done ? 'copied' : 'copyFailed')
      },
    },
    icon(...COPY),
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
