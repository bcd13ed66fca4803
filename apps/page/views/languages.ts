import { h } from '../dom.ts'
import {
  currentLanguage,
  isLanguage,
  LANGUAGE_TAGS,
  LANGUAGES,
  type Language,
  t,
  useLanguage,
} from '../i18n.ts'

/**
 * @param redraw Redraws the page in the chosen language.
 * @param offered Those of the page, or fewer.
 */
export function viewLanguages(
  redraw: () => void,
  offered: readonly Language[] = LANGUAGE_TAGS,
): HTMLElement {
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
    ...offered.map((tag) =>
      h(
        'option',
        { value: tag, lang: tag, selected: tag === currentLanguage() },
        LANGUAGES[tag].name,
      ),
    ),
  )
  return select
}
