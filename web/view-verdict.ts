import type { Hex } from '../document/hex.ts'
import { readBundle, type Verdict } from '../verifier/index.ts'
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
import type { Subject } from './input.ts'
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
  past: ['M12 3.5V12l5.5 3.5'],
  open: ['M9 9.2a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1-1.3 2.1', 'M12 17.6h.01'],
  busy: ['M12 2.5a9.5 9.5 0 0 1 9.5 9.5'],
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
  return [...new Set(offline ? [t('why.offline'), ...codes] : codes)]
}

/** The verdict: the one thing that the reader came for. */
export function viewVerdict(state: State, actions: Actions): HTMLElement {
  const { phase } = state
  if (phase.at === 'ask') return h('div')
  if (phase.at === 'checking')
    return card('busy', 'checking', t('checking'), [
      h('p', {}, t('checks.running')),
    ])
  if (phase.at === 'failed')
    return card('open', 'failed', t('unverifiable.title'), [
      h('p', {}, t('error.internal')),
      button(t('retry'), actions.retry),
    ])
  const { verdict, subject, saidErased } = phase
  const { title, text } = wordsOf(verdict)
  const fromBundle = subject.bundle !== undefined
  return card(TONES[verdict.status], verdict.status, title, [
    h('p', {}, text),
    ...reasonsOf(verdict).map((reason) => h('p', {}, reason)),
    saidErased && h('p', {}, t('erased.here')),
    verdict.asOf &&
      h(
        'p',
        { class: 'as-of' },
        t('asOf', {
          block: showNumber(verdict.asOf.blockNumber),
          time: showTime(verdict.asOf.blockTime),
        }),
      ),
    fromBundle && verdict.asOf && h('p', {}, t('asOf.bundle')),
    isUntrusted(verdict) && viewTrustedBlock(subject, actions),
    fromBundle &&
      state.sources.rpc.length > 0 &&
      button(t('bundle.now'), actions.checkNow),
    ['unverifiable', 'not_issued'].includes(verdict.status) &&
      button(t('retry'), actions.retry),
  ])
}

function card(
  tone: Tone | 'busy',
  status: string,
  title: string,
  content: (Node | false | null | undefined)[],
): HTMLElement {
  return h(
    'section',
    {
      class: `verdict ${tone}`,
      'data-status': status,
      'aria-labelledby': 'verdict',
    },
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

function button(text: string, act: () => void): HTMLElement {
  return h(
    'button',
    { type: 'button', class: 'primary', click: () => act() },
    text,
  )
}

function isUntrusted({ checks }: Verdict): boolean {
  return checks.some(({ code }) => code === 'block_untrusted')
}

/** A proof file holds for whoever trusts its block: without a node, somebody must vouch for that. */
function viewTrustedBlock(
  { bundle }: Subject,
  actions: Actions,
): HTMLElement | false {
  if (bundle === undefined) return false
  const { blockNumber } = readBundle(bundle).block
  const problem = h('p', {
    id: 'block-problem',
    class: 'problem',
    role: 'alert',
  })
  const input = h('input', {
    id: 'block',
    type: 'text',
    dir: 'ltr',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'block-problem',
  })
  const submit = (event: Event) => {
    event.preventDefault()
    const hash = input.value.trim().toLowerCase()
    const good = /^0x[0-9a-f]{64}$/.test(hash)
    problem.textContent = good ? '' : t('bundle.bad')
    input.setAttribute('aria-invalid', String(!good))
    if (good) actions.trustBlock(hash as Hex)
    else input.focus()
  }
  return h(
    'form',
    { class: 'field', submit },
    h(
      'label',
      { for: 'block' },
      t('bundle.label', { block: showNumber(blockNumber) }),
    ),
    input,
    problem,
    h('button', { type: 'submit' }, t('bundle.check')),
  )
}
