import type { Verdict } from '../verifier/index.ts'
import { h, icon } from './dom.ts'
import {
  currentLanguage,
  maybe,
  showDate,
  showDay,
  showNumber,
  showTime,
  t,
} from './i18n.ts'
import type { Actions, State } from './state.ts'

type Status = Verdict['status']
type Tone = 'good' | 'bad' | 'past' | 'open'

/** Was good and is no longer; was never good; not known. Each has a shape of its own beside its colour. */
const TONES: Record<Status, Tone> = {
  valid: 'good',
  not_issued: 'bad',
  revoked: 'bad',
  distrusted: 'bad',
  wrong_key: 'bad',
  tampered: 'bad',
  superseded: 'past',
  erased: 'past',
  expired: 'past',
  unverifiable: 'open',
}

const SHAPES: Record<Tone | 'busy', string[]> = {
  good: ['m5 12.5 4.5 4.5L19 7.5'],
  bad: ['m6 6 12 12', 'M18 6 6 18'],
  past: ['M12 6v6.5l4 2.5'],
  open: ['M9 9.2a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1-1.3 2.1', 'M12 17.6h.01'],
  busy: ['M12 4a8 8 0 0 1 8 8'],
}

/** @returns The verdict in two short texts. */
export function wordsOf(verdict: Verdict): { title: string; text: string } {
  const { status, blockchainProof: proof, document } = verdict
  const text = t(`${status}.text`, {
    date: dateOf(status, proof, document?.expiresAt),
    reason: maybe(`reason.${proof?.reason}`) ?? proof?.reason ?? '',
  })
  return { title: t(`${status}.title`), text }
}

function dateOf(
  status: Status,
  proof: Verdict['blockchainProof'],
  expiresAt: string | undefined,
): string {
  if (status === 'expired') {
    if (expiresAt !== undefined) return showDate(expiresAt)
    return proof?.validUntil ? showDay(proof.validUntil - 1) : ''
  }
  return proof?.revokedAt ? showDay(proof.revokedAt) : ''
}

/** @returns Why it could not be checked, in words where there are some. */
export function reasonsOf(verdict: Verdict): string[] {
  if (verdict.status !== 'unverifiable') return []
  const offline = !navigator.onLine
  const codes = verdict.checks
    .filter(({ outcome, check }) => outcome === 'unknown' && check !== 'event')
    .map(({ code }) => maybe(`why.${code}`) ?? code)
  return offline ? [t('why.offline')] : [...new Set(codes)]
}

/** The verdict: the one thing that the reader came for. */
export function viewVerdict(state: State, actions: Actions): HTMLElement {
  const { phase } = state
  if (phase.at === 'ask') return h('div')
  if (phase.at === 'checking')
    return card('busy', t('checking'), [h('p', {}, t('checks.running'))])
  if (phase.at === 'failed')
    return card('open', t('unverifiable.title'), [
      h('p', {}, t('error.internal')),
      retry(actions),
    ])
  const { verdict } = phase
  const { title, text } = wordsOf(verdict)
  return card(TONES[verdict.status], title, [
    h('p', {}, text),
    ...reasonsOf(verdict).map((reason) => h('p', {}, reason)),
    verdict.asOf &&
      h(
        'p',
        { class: 'as-of' },
        t('asOf', {
          block: showNumber(verdict.asOf.blockNumber),
          time: showTime(verdict.asOf.blockTime),
        }),
      ),
    ['unverifiable', 'not_issued'].includes(verdict.status) && retry(actions),
  ])
}

function card(
  tone: Tone | 'busy',
  title: string,
  content: (Node | false | null | undefined)[],
): HTMLElement {
  return h(
    'section',
    { class: `verdict ${tone}`, 'aria-labelledby': 'verdict' },
    h('div', { class: 'seal' }, icon(...SHAPES[tone])),
    h(
      'div',
      { class: 'said' },
      h(
        'h1',
        { id: 'verdict', tabindex: '-1', lang: currentLanguage() },
        title,
      ),
      ...content,
    ),
  )
}

function retry(actions: Actions): HTMLElement {
  return h(
    'button',
    { type: 'button', class: 'primary', click: () => actions.retry() },
    t('retry'),
  )
}
