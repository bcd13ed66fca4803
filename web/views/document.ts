import type { Verdict } from '../../verifier/index.ts'
import { foreign, h } from '../dom.ts'
import { showDate, t } from '../i18n.ts'

/** The document's own words, as text. */
export function viewDocument(verdict: Verdict): HTMLElement | false {
  const { document, checks, status } = verdict
  if (document === null) {
    const unread = checks.some(
      ({ check, outcome }) => check === 'payload' && outcome === 'unknown',
    )
    // Of one that could not be checked, the verdict itself says so.
    return (
      unread &&
      status !== 'unverifiable' &&
      section(h('p', {}, t('document.unread')))
    )
  }
  const entries: [string, string | HTMLElement][] = [
    [t('document.subjectName'), foreign(document.subjectName)],
    [t('document.subjectId'), foreign(document.subjectId)],
    [t('document.category'), foreign(inWords(document.category))],
    [t('document.issuedAt'), showDate(document.issuedAt)],
    [
      t('document.expiresAt'),
      document.expiresAt === undefined
        ? t('document.never')
        : showDate(document.expiresAt),
    ],
  ]
  if (document.supersedes !== undefined)
    entries.push([t('document.supersedes'), foreign(document.supersedes)])
  const metadata = Object.entries(document.metadata ?? {})
  return section(
    h('dl', {}, ...entries.map(([name, value]) => entry(name, value))),
    metadata.length > 0 && h('h3', {}, t('document.metadata')),
    metadata.length > 0 &&
      h(
        'dl',
        {},
        ...metadata.map(([name, value]) =>
          entry(foreign(name), foreign(value)),
        ),
      ),
  )
}

function section(...content: (Node | false)[]): HTMLElement {
  return h(
    'section',
    { class: 'document', 'aria-labelledby': 'document' },
    h('h2', { id: 'document' }, t('document.heading')),
    ...content,
  )
}

function entry(
  name: string | HTMLElement,
  value: string | HTMLElement,
): HTMLElement {
  return h('div', {}, h('dt', {}, name), h('dd', {}, value))
}

/** `birth_certificate` as “Birth certificate”. */
function inWords(category: string): string {
  const words = category.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
