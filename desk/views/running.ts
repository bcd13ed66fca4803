import { showNumber } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d } from '../i18n.ts'
import { issueRows } from '../table/issue.ts'
import { forgetTable, type TableRun } from '../table/run.ts'

/** Issues what has no answer yet, and shows how far it is. */
export async function goOn(desk: Desk, run: TableRun): Promise<void> {
  const going = issueRows(desk.client, run, () => showProgress(run))
  desk.redraw('heading')
  await going
  if (desk.memory.table !== run || !desk.isAt('#/table')) return
  desk.redraw('heading')
  desk.announce(d(run.isDone ? 'table.done' : 'table.halted'))
}

/** Moves the bar without drawing the page again. */
function showProgress({ results, sent = [] }: TableRun): void {
  const bar = document.querySelector('progress')
  const count = document.getElementById('count')
  const done = Object.keys(results).length
  if (bar) bar.value = done
  if (count)
    count.textContent = d('table.progress', {
      done: showNumber(done),
      all: showNumber(sent.length),
    })
}

/** Forgets the table. */
export function giveUp(desk: Desk): void {
  forgetTable()
  delete desk.memory.table
  desk.redraw('heading')
}
