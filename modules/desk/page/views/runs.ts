import type { Run } from '#client/index.ts'
import { h } from '#web/dom.ts'
import { showNumber, showTime } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { remember } from '../remembered.ts'
import { namesIn, openRun } from '../table/issue.ts'
import { keepRun } from '../table/run.ts'
import { hint, section, viewTrouble } from './parts.ts'

/** The tables that the service has of this person, from any window. Empty while there are none. */
export function viewRuns(desk: Desk): HTMLElement {
  const place = h('div')
  desk.impatient.listRuns().then(
    ({ runs }) => {
      if (runs.length > 0) place.append(viewList(desk, runs))
    },
    // They are shown the next time.
    () => {},
  )
  return place
}

function viewList(desk: Desk, runs: readonly Run[]): HTMLElement {
  const trouble = viewTrouble(undefined)
  const open = async (run: Run) => {
    trouble.textContent = ''
    try {
      const table = await openRun(desk.client, run)
      remember(desk.session, namesIn(table))
      desk.memory.table = table
      keepRun(table)
      desk.redraw('heading')
    } catch (error) {
      trouble.textContent = wordsOf(error)
    }
  }
  return section(
    d('table.runs'),
    hint(d('table.runs.hint')),
    trouble,
    h(
      'ul',
      { class: 'runs' },
      ...runs.map((run) =>
        h(
          'li',
          {},
          h('span', {}, wordsFor(run)),
          h('button', { type: 'button', click: () => open(run) }, d('table.run.open')),
        ),
      ),
    ),
  )
}

function wordsFor({ createdAt, done, size }: Run): string {
  const time = quoted(showTime(Date.parse(createdAt) / 1000))
  return d('table.run', { time, done: showNumber(done), all: showNumber(size) })
}
