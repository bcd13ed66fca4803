import { h } from '../dom.ts'

/** Letters of a host that fit on the narrowest page for sure. */
const WIDE = 24

/**
 * On one line: it shrinks, and where that is not enough it scrolls and shows its end first, since
 * the end says whose it is. Broken or cut off it could pass for another.
 */
export function viewHost(host: string): HTMLElement {
  const line = h(
    'p',
    {
      class: 'host',
      dir: 'rtl',
      // Scrolls by keyboard too.
      ...(host.length > WIDE && { tabindex: '0' }),
    },
    h('strong', { dir: 'ltr' }, host),
  )
  line.style.setProperty('--letters', String(host.length))
  return line
}

/**
 * A domain that may have a path after its host. Only the host says whose it is: beside it, a long
 * path could pass for one.
 */
export function viewDomain(domain: string): HTMLElement[] {
  const [host = '', ...path] = domain.split('/')
  return [
    viewHost(host),
    ...(path.length > 0 ? [h('p', { class: 'path', dir: 'ltr' }, `/${path.join('/')}`)] : []),
  ]
}
