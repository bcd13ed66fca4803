import { h } from '../dom.ts'
import { currentLanguage, isLanguage, LANGUAGES, t, useLanguage } from '../i18n.ts'
import { viewHost } from './host.ts'

/**
 * The page's name and address, and its languages.
 *
 * @param redraw Redraws the page in the chosen language.
 */
export function viewHeader(redraw: () => void): Node[] {
  return [h('p', { class: 'brand' }, t('title')), viewLanguages(redraw), viewOwnHost()]
}

/** A forger's page can look like this one; only the browser's address bar shows the difference. */
function viewOwnHost(): HTMLElement {
  const { host } = location
  return h(
    'div',
    { class: 'own' },
    h('span', { class: 'unseen' }, t('own.label')),
    host === '' ? h('strong', {}, t('own.file')) : viewHost(host),
    h('p', { class: 'hint' }, t(host === '' ? 'own.file.hint' : 'own.hint')),
  )
}

function viewLanguages(redraw: () => void): HTMLElement {
  const select = h(
    'select',
    {
      id: 'language',
      'aria-label': t('language'),
      change: () => {
        if (!isLanguage(select.value)) return
        useLanguage(select.value, true)
        redraw()
        document.getElementById('language')?.focus()
      },
    },
    ...Object.entries(LANGUAGES).map(([tag, { name }]) =>
      h('option', { value: tag, lang: tag, selected: tag === currentLanguage() }, name),
    ),
  )
  return select
}
