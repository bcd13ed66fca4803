import { h } from '../dom.ts'
import { currentLanguage, isLanguage, LANGUAGES, t, useLanguage } from '../i18n.ts'

/** @param redraw Redraws the page in the chosen language. */
export function viewLanguages(redraw: () => void): HTMLElement {
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
