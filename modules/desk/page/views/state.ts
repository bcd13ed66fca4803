import type { Calls } from '#client/index.ts'
import { h } from '#web/dom.ts'
import { showDate, showNumber, showTime } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { may } from '../session.ts'
import { ether, section, viewNotice } from './parts.ts'

type State = Calls['retrieveOverview']['data']

/** What keeps the service from issuing or soon will; and what was issued lately. */
export function viewState(desk: Desk): { notices: HTMLElement; numbers: HTMLElement } {
  const notices = h('div', { class: 'health' })
  const numbers = h('div', { class: 'numbers' })
  Promise.all([desk.impatient.retrieveOverview(), desk.impatient.checkReadiness()]).then(
    ([state]) => {
      notices.replaceChildren(...state.alerts.map(viewAlert))
      numbers.replaceChildren(
        viewWeeks(state.weeks),
        ...(may(desk.session, 'admin') ? [viewService(state)] : []),
      )
    },
    () => notices.replaceChildren(viewNotice(d('warning.notReady'))),
  )
  return { notices, numbers }
}

function viewAlert(name: State['alerts'][number]): HTMLElement {
  return viewNotice(d(name === 'issuing_stopped' ? 'warning.notReady' : `warning.${name}`))
}

function viewWeeks(weeks: State['weeks']): HTMLElement {
  const most = Math.max(1, ...weeks.map(({ issued }) => issued))
  const columns = ['week', 'issued', 'revoked', 'superseded'] as const
  return section(
    d('overview.weeks'),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': d('overview.weeks') },
      h(
        'table',
        { class: 'list' },
        h(
          'thead',
          {},
          h('tr', {}, ...columns.map((one) => h('th', { scope: 'col' }, d(`overview.${one}`)))),
        ),
        h('tbody', {}, ...weeks.toReversed().map((week) => viewWeek(week, most))),
      ),
    ),
  )
}

function viewWeek({ from, issued, revoked, superseded }: State['weeks'][number], most: number) {
  // The bar repeats the number.
  const bar = h('meter', { 'aria-hidden': 'true', min: '0', max: `${most}`, value: `${issued}` })
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, showDate(from)),
    h('td', {}, bar, ' ', showNumber(issued)),
    h('td', {}, showNumber(revoked)),
    h('td', {}, showNumber(superseded)),
  )
}

/** What only those need who run the service. */
function viewService({ waiting, account, fees, backup }: State): HTMLElement {
  const { balance, documents } = account
  const rows = [
    [d('overview.waiting'), showNumber(waiting.queued + waiting.inFlight)],
    [d('overview.balance'), balanceWords(balance, documents)],
    [d('overview.fees'), feeWords(fees)],
    [
      d('overview.backup'),
      backup.madeAt === null
        ? d('overview.backup.none')
        : showTime(Date.parse(backup.madeAt) / 1000),
    ],
  ] as const
  return section(
    d('overview.service'),
    h(
      'dl',
      {},
      ...rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
    ),
  )
}

function balanceWords(balance: string | null, documents: number | null): string {
  if (balance === null) return d('overview.unknown')
  if (documents === null) return d('overview.ether', { amount: ether(balance) })
  return d('overview.lasts', { balance: ether(balance), count: showNumber(documents) })
}

function feeWords({ lastHour, cap }: State['fees']): string {
  if (lastHour === null) return d('overview.unknown')
  const amount = ether(lastHour)
  return cap === null
    ? d('overview.ether', { amount })
    : d('overview.cap', { amount, cap: ether(cap) })
}
