import type { Check, Verdict } from '#verifier/index.ts'
import { h, icon } from '../dom.ts'
import { maybe, showNumber, t } from '../i18n.ts'

const SHAPES: Record<Check['outcome'], string> = {
  pass: 'm6 12.5 4 4 8-9',
  fail: 'm7 7 10 10M17 7 7 17',
  unknown: 'M8.8 9a3.2 3.2 0 1 1 4.7 2.8c-1 .6-1.5 1.1-1.5 2.4M12 18h.01',
}

/** Shows the decisive checks, and folds checks that passed or do not decide into one line. */
export function viewChecks(
  checks: Verdict['checks'],
  {
    isRunning = false,
    isOpen = false,
  }: {
    /** Whether more checks are pending. */
    isRunning?: boolean
    /** Whether the fold is open. */
    isOpen?: boolean
  } = {},
): HTMLElement {
  const decidesNothing = ({ check, outcome }: Check) =>
    outcome === 'unknown' && (check === 'event' || check === 'identity')
  const isQuiet = (one: Check) => one.outcome === 'pass' || decidesNothing(one)
  const quiet = checks.filter(isQuiet)
  const passed = checks.filter(({ outcome }) => outcome === 'pass').length
  const values = {
    passed: showNumber(passed),
    // A check that does not decide is in the fold, so the reader does not wonder which one failed.
    count: showNumber(checks.filter((one) => !decidesNothing(one)).length),
  }
  return h(
    'section',
    { class: 'checks', 'aria-labelledby': 'checks' },
    h('h2', { id: 'checks' }, t('checks.heading')),
    checks.length > quiet.length && list(checks.filter((c) => !isQuiet(c))),
    quiet.length > 0 &&
      h(
        'details',
        { open: isOpen },
        h('summary', {}, isRunning ? t('checks.running', values) : t('checks.passed', values)),
        list(quiet),
      ),
  )
}

function list(checks: Check[]): HTMLElement {
  return h('ul', { role: 'list' }, ...checks.map(line))
}

function line({ check, outcome, code }: Check): HTMLElement {
  const words = maybe(`${check}.${code}`) ?? maybe(`${check}.${outcome}`) ?? check
  // Each check has its own texts: content, event and domain are unavailable for different reasons.
  const hasOwn = ['event', 'identity', 'credential'].includes(check)
  const why = outcome === 'unknown' && !hasOwn ? maybe(`why.${code}`) : undefined
  return h(
    'li',
    { class: outcome, 'data-check': check, 'data-code': code },
    icon(SHAPES[outcome]),
    h(
      'div',
      {},
      h('span', { class: 'unseen' }, `${t(`checks.${outcome}`)}: `),
      h('span', {}, words),
      why !== undefined && ` ${why}`,
      ' ',
      h('code', {}, code),
    ),
  )
}
