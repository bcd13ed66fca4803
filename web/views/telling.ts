import { h, icon } from '../dom.ts'

export const COPY = ['M9 9h10v11H9z', 'M15 9V4H5v11h4']
export const SAVE = ['M12 4v11', 'm7 10.5 5 5 5-5', 'M5 20h14']

/** A button that shows its result; `aloud` announces it to screen readers. */
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

/** The old API, for pages over plain HTTP. */
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
