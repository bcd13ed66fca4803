import type { VerdictStatus } from '#verifier/index.ts'
import { foreign, h, icon } from '../dom.ts'
import { type Doubt, doubtOf, isToCompare } from '../doubt.ts'
import { isOutdated, shownStatus } from '../findings.ts'
import { currentLanguage, phrase, showTime, t } from '../i18n.ts'
import { isExcerpt } from '../input.ts'
import type { Actions, Done, State } from '../state.ts'
import {
  agoOf,
  closedNotice,
  datingNotice,
  headlineOf,
  linesOf,
  networkWarning,
  otherRegistry,
  revokerNotice,
  setAsideNotice,
  unconfirmedNotice,
  waitingFor,
} from '../words.ts'
import { ATTENTION, viewAlert } from './alert.ts'
import { viewDocument } from './document.ts'
import { viewParties } from './parties.ts'
import { isUntrusted, viewTrustedBlock } from './statement.ts'

type Tone = 'good' | 'unsure' | 'denied' | 'bad' | 'held' | 'past' | 'open' | 'asking'

/** Each status differs in shape as well as colour. */
const TONES: Record<VerdictStatus, Tone> = {
  valid: 'good',
  not_issued: 'bad',
  revoked: 'bad',
  distrusted: 'bad',
  suspended: 'held',
  wrong_key: 'bad',
  tampered: 'bad',
  superseded: 'past',
  erased: 'past',
  expired: 'past',
  unverifiable: 'open',
}

const DOUBTS: Record<Doubt, Tone> = {
  asking: 'asking',
  denied: 'denied',
  notListed: 'denied',
  unconfirmed: 'unsure',
  pdf: 'unsure',
  future: 'unsure',
}

const SHAPES: Record<Tone | 'busy', string[]> = {
  good: ['m5 12.5 4.5 4.5L19 7.5'],
  unsure: ['M12 5v9', 'M12 18.6h.01'],
  denied: ATTENTION,
  bad: ['m6 6 12 12', 'M18 6 6 18'],
  held: ['M8.5 6v12', 'M15.5 6v12'],
  past: ['M12 3.5V12l5.5 3.5'],
  open: ['M9 9.2a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1-1.3 2.1', 'M12 17.6h.01'],
  asking: ['M5 12h.01', 'M12 12h.01', 'M19 12h.01'],
  busy: ['M12 2.5a9.5 9.5 0 1 1-9.5 9.5'],
}

/** The verdict, the most important part of the page. */
export function viewVerdict(state: State, actions: Actions): HTMLElement {
  const { phase, sources } = state
  if (phase.at === 'ask') return h('div')
  if (phase.at === 'checking')
    return card(state, 'busy', 'checking', t('checking'), [
      phase.slow && h('p', {}, waitingFor(phase, sources)),
    ])
  if (phase.at === 'failed')
    return card(state, 'open', 'failed', t('unverifiable.title'), [
      h('p', {}, t('error.internal')),
      button(t('retry'), actions.retry),
    ])
  return viewDone(phase, state, actions)
}

function viewDone(phase: Done, state: State, actions: Actions): HTMLElement {
  const { verdict, live, subject, newer } = phase
  const status = shownStatus(phase)
  const outdated = isOutdated(phase)
  return card(
    state,
    toneOf(phase),
    status,
    headlineOf(phase),
    [
      isExcerpt(subject) && h('p', { class: 'mark' }, t('excerpt.mark')),
      viewAlert('unconfirmed', unconfirmedNotice(phase)),
      isToCompare(phase) && viewDocument(phase, state.kind),
      viewAlert('dating', datingNotice(verdict)),
      viewAlert('set-aside', setAsideNotice(verdict)),
      viewAlert('revoker', revokerNotice(verdict)),
      viewAlert('closed', closedNotice(verdict)),
      viewParties(phase),
      ...linesOf(phase).map((line) => h('p', {}, line)),
      newer && button(t('superseded.open'), () => actions.open(newer)),
      viewTime(phase),
      isUntrusted(verdict) && viewTrustedBlock(subject, actions),
      (!live || ['unverifiable', 'not_issued'].includes(status)) &&
        button(t('retry'), actions.retry),
    ],
    outdated,
  )
}

function toneOf(phase: Done): Tone {
  const doubt = doubtOf(phase)
  if (doubt !== undefined) return DOUBTS[doubt]
  return isOutdated(phase) ? 'open' : TONES[shownStatus(phase)]
}

function card(
  state: State,
  tone: Tone | 'busy',
  status: string,
  title: string,
  content: (Node | false | null | undefined)[],
  outdated = false,
): HTMLElement {
  const warning = networkWarning(state.sources)
  return h(
    'section',
    {
      class: `verdict ${tone}`,
      'data-status': status,
      'data-outdated': outdated,
      'aria-labelledby': 'verdict',
    },
    warning !== undefined && h('p', { class: 'network' }, icon(...ATTENTION), warning),
    h(
      'div',
      { class: 'head' },
      h('div', { class: 'seal' }, icon(...SHAPES[tone])),
      h(
        'h1',
        {
          id: 'verdict',
          tabindex: '-1',
          lang: currentLanguage(),
          class: title.length > MIN_LONG_TITLE ? 'long' : undefined,
        },
        title,
      ),
    ),
    viewHint(state),
    ...content,
  )
}

/**
 * Warns that the link names another registry than the page trusts, which is a mistake or a forgery.
 */
function viewHint({ phase, sources }: State): HTMLElement | false {
  const other = phase.at === 'ask' ? undefined : otherRegistry(phase.subject, sources)
  if (other === undefined) return false
  const registry = foreign(other, { dir: 'ltr' })
  return viewAlert('hint', ...phrase('trust.other', { registry }))
}

/** From this many letters on, a title does not fit on one line next to its icon. */
const MIN_LONG_TITLE = 18

function button(text: string, act: () => void): HTMLElement {
  return h('button', { type: 'button', class: 'primary', click: () => act() }, text)
}

/** @returns `Checked just now`, or the time of a proof file; nothing if nothing was read. */
function viewTime({ verdict, live, checkedAt }: Done): HTMLElement | false {
  const { asOf, checks } = verdict
  if (asOf === null) return false
  if (!live) return h('p', { class: 'time' }, t('asOf.bundle', { time: showTime(asOf.blockTime) }))
  const stale = checks.some(({ check, outcome }) => check === 'chain' && outcome !== 'pass')
  return (
    !stale &&
    h(
      'p',
      { class: 'time ago' },
      h('time', { id: 'checked', datetime: new Date(checkedAt).toISOString() }, agoOf(checkedAt)),
    )
  )
}
