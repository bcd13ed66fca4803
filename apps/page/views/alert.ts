import { h, icon } from '../dom.ts'

/** The icon of a warning. */
export const ATTENTION = ['M12 3 2 20.5h20z', 'M12 9.5v5.5', 'M12 17.8h.01']

/** A notice that does not affect the status, so it must be visible next to it. */
export function viewAlert(
  id: string,
  ...notice: (Node | string | undefined)[]
): HTMLElement | false {
  const [first] = notice
  return (
    first !== undefined &&
    h('p', { class: 'alert', id }, icon(...ATTENTION), h('span', {}, ...notice))
  )
}
