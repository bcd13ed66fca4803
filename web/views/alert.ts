import { h, icon } from '../dom.ts'

/** The sign of what must not be overlooked. */
export const ATTENTION = ['M12 3 2 20.5h20z', 'M12 9.5v5.5', 'M12 17.8h.01']

/** What decides no status, so that it must be seen beside one. */
export function viewAlert(id: string, notice: string | undefined): HTMLElement | false {
  return (
    notice !== undefined &&
    h('p', { class: 'alert', id }, icon(...ATTENTION), h('span', {}, notice))
  )
}
