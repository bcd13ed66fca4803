import type { VerdictStatus } from '../../verifier/index.ts'
import type { Sources } from '../config.ts'
import { h, icon } from '../dom.ts'
import { isOutdated, shownStatus } from '../findings.ts'
import { currentLanguage, showTime, t } from '../i18n.ts'
import { isExcerpt } from '../input.ts'
import type { Actions, Done, State } from '../state.ts'
import {
  agoOf,
  closedNotice,
  datingNotice,
  headlineOf,
  linesOf,
  networkWarning,
  revokerNotice,
  setAsideNotice,
  waitingFor,
} from '../words.ts'
import { ATTENTION, viewAlert } from './alert.ts'
import { viewParties } from './parties.ts'
import { isUntrusted, viewTrustedBlock } from './statement.ts'

type Tone = 'good' | 'bad' | 'held' | 'past' | 'open'

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

const SHAPES: Record<Tone | 'busy', string[]> = {
  good: ['m5 12.5 4.5 4.5L19 7.5'],
  bad: ['m6 6 12 12', 'M18 6 6 18'],
  held: ['M8.5 6v12', 'M15.5 6v12'],
  past: ['M12 3.5V12l5.5 3.5'],
  open: ['M9 9.2a3 3 0 1 1 4.3 2.7c-.9.5-1.3 1-1.3 2.1', 'M12 17.6h.01'],
  busy: ['M12 2.5a9.5 9.5 0 1 1-9.5 9.5'],
}

/** The verdict, the most important part of the page. */
export function viewVerdict(state: State, actions: Actions): HTMLElement {
  const { phase, sources } = state
  if (phase.at === 'ask') return h('div')
  if (phase.at === 'checking')
    return card(sources, 'busy', 'checking', t('checking'), [
      phase.slow && h('p', {}, waitingFor(phase, sources)),
    ])
  if (phase.at === 'failed')
    return card(sources, 'open', 'failed', t('unverifiable.title'), [
      h('p', {}, t('error.internal')),
      button(t('retry'), actions.retry),
    ])
  return viewDone(phase, sources, actions)
}

function viewDone(phase: Done, sources: Sources, actions: Actions): HTMLElement {
  const { verdict, live, subject } = phase
  const status = shownStatus(phase)
  const outdated = isOutdated(phase)
  const tone = outdated ? 'open' : TONES[status]
  return card(
    sources,
    tone,
    status,
    headlineOf(phase),
    [
      isExcerpt(subject) && h('p', { class: 'mark' }, t('excerpt.mark')),
      viewAlert('dating', datingNotice(verdict)),
      viewAlert('set-aside', setAsideNotice(verdict)),
      viewAlert('revoker', revokerNotice(verdict)),
      viewAlert('closed', closedNotice(verdict)),
      viewParties(phase),
      ...linesOf(phase).map((line) => h('p', {}, line)),
      viewTime(phase),
      isUntrusted(verdict) && viewTrustedBlock(subject, actions),
      (!live || ['unverifiable', 'not_issued'].includes(status)) &&
        button(t('retry'), actions.retry),
    ],
    outdated,
  )
}

function card(
  sources: Sources,
  tone: Tone | 'busy',
  status: string,
  title: string,
  content: (Node | false | null | undefined)[],
  outdated = false,
): HTMLElement {
  const warning = networkWarning(sources)
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
          class: title.length > LONG ? 'long' : undefined,
        },
        title,
      ),
    ),
    ...content,
  )
}

/** From this many letters on, a title does not fit on one line beside its icon. */
const LONG = 18

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
