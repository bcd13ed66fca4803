import { h } from '../dom.ts'

/** The number of letters of a host that always fit on the narrowest page. */
const MAX_LETTERS = 24

/**
 * Shows a host on one line. It shrinks, and if that is not enough it scrolls, showing the end
 * first, because the end identifies the owner. A wrapped or truncated host could pass for another.
 */
export function viewHost(host: string): HTMLElement {
  const line = h(
    'p',
    {
      class: 'host',
      dir: 'rtl',
      // Makes it scrollable by keyboard.
      ...(host.length > MAX_LETTERS && { tabindex: '0' }),
    },
    h('strong', { dir: 'ltr' }, host),
  )
  line.style.setProperty('--letters', String(host.length))
  return line
}

/**
 * Shows a domain that may have a path after its host. Only the host identifies the owner, and a
 * long path next to it could pass for a host.
 */
export function viewDomain(domain: string): HTMLElement[] {
  const [host = '', ...path] = domain.split('/')
  return [
    viewHost(host),
    ...(path.length > 0 ? [h('p', { class: 'path', dir: 'ltr' }, `/${path.join('/')}`)] : []),
  ]
}
