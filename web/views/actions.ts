import { h, icon } from '../dom.ts'
import { t } from '../i18n.ts'
import { isExcerpt } from '../input.ts'
import type { Actions, Done } from '../state.ts'
import { COPY, copy, SAVE, telling } from './telling.ts'

const PRINT = ['M7 9V4h10v5', 'M7 17H4V9h16v8h-3', 'M7 14h10v6H7z']

/** The actions below a verdict. */
export function viewActions({ subject, verdict }: Done, actions: Actions): HTMLElement {
  const ofExcerpt = isExcerpt(subject)
  const saving = ofExcerpt ? 'excerpt.save' : 'download'
  const aloud = h('p', { class: 'unseen', role: 'status' })
  return h(
    'div',
    { class: 'actions' },
    aloud,
    h(
      'div',
      { class: 'ways' },
      // On paper, it would be about a document that nobody has.
      verdict.status !== 'not_issued' &&
        h('button', { type: 'button', click: () => print() }, icon(...PRINT), t('print')),
      !ofExcerpt &&
        telling(aloud, COPY, t('copy'), async () =>
          (await copy(subject.publicId)) ? t('copied') : t('copyFailed'),
        ),
      (ofExcerpt || verdict.asOf !== null) &&
        telling(aloud, SAVE, t(saving), async () =>
          (await actions.saveProof()) ? t(saving) : t('downloadFailed'),
        ),
    ),
    h('p', { class: 'hint' }, t(ofExcerpt ? 'excerpt.passOn' : 'secret')),
  )
}
