import { h } from '#web/dom.ts'
import { d } from '../i18n.ts'

export type Question = {
  title: string
  content: (Node | string | false | undefined)[]
  /** The label of the button that does it. */
  does: string
  /** Whether it cannot be undone; the dialog then says so. */
  isFinal?: boolean
}

/**
 * Asks before something is done. Escape and the first button leave everything as it is, and the
 * focus returns to where it was.
 */
export function ask({ title, content, does, isFinal = false }: Question): Promise<boolean> {
  const before = document.activeElement
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'question', close: () => done(dialog.returnValue === 'yes') },
      h('h2', { id: 'question', tabindex: '-1', autofocus: true }, title),
      ...content,
      isFinal && h('p', { class: 'warning' }, d('final')),
      h(
        'div',
        { class: 'ways' },
        h('button', { type: 'button', click: () => dialog.close() }, d('cancel')),
        h(
          'button',
          {
            type: 'button',
            class: isFinal ? 'primary danger' : 'primary',
            click: () => dialog.close('yes'),
          },
          does,
        ),
      ),
    )
    function done(isYes: boolean): void {
      dialog.remove()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      resolve(isYes)
    }
    document.body.append(dialog)
    dialog.showModal()
  })
}
