import { showNumber } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { remember } from '../remembered.ts'
import { issueRows, namesIn } from '../table/issue.ts'
import { forgetTable, type TableRun } from '../table/run.ts'

/** Issues what has no answer yet, and shows how far it is. */
export async function goOn(desk: Desk, run: TableRun, mayResume = true): Promise<void> {
  const going = issueRows(desk.client, run, () => showProgress(run), mayResume)
  desk.redraw('heading')
  await going
  remember(desk.session, namesIn(run))
  if (desk.memory.table !== run || !desk.isAt('#/table')) return
  desk.redraw('heading')
  desk.announce(d(run.isDone ? 'table.done' : 'table.halted'))
}

/** Moves the bar without drawing the page again. */
function showProgress({ sent = [], done = 0, isWaiting }: TableRun): void {
  const bar = document.querySelector('progress')
  const count = document.getElementById('count')
  const waiting = document.getElementById('waiting')
  if (bar) bar.value = done
  if (waiting) waiting.textContent = isWaiting ? d('table.waiting') : ''
  if (count)
    count.textContent = d('table.progress', {
      done: showNumber(done),
      all: showNumber(sent.length),
    })
}

/** Forgets the table, also at the service. */
export function giveUp(desk: Desk): void {
  if (desk.memory.table) removeRun(desk, desk.memory.table)
  forgetTable()
  delete desk.memory.table
  desk.redraw('heading')
}

/** Without an answer, the service removes it a day after its end. */
export function removeRun({ client }: Desk, { runId }: TableRun): void {
  if (runId !== undefined) client.removeRun({ path: { id: runId } }).catch(() => {})
}
