import { foreign, h } from '#web/dom.ts'
import { showNumber, t } from '#web/i18n.ts'
import type { Desk, View } from '../desk.ts'
import { d } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { printMany } from '../table/certificates.ts'
import {
  failedRows,
  failedTable,
  issuedTable,
  linkOf,
  notPrintedTable,
  refresh,
} from '../table/issue.ts'
import { check, keepRun, newRun, type Result, type TableRun, unanswered } from '../table/run.ts'
import { viewCertificate, viewPrinting } from './certificate.ts'
import { ask } from './dialog.ts'
import {
  hint,
  outside,
  saveBlob,
  saveBytes,
  section,
  viewNotice,
  viewStatus,
  viewTrouble,
} from './parts.ts'
import { PAGE, viewPages } from './rows.ts'
import { giveUp, goOn, removeRun } from './running.ts'

/** A run: how far it is, and what became of each row. */
export function viewResults(desk: Desk, run: TableRun): View['content'] {
  const { sent = [], results } = run
  const done = run.isBusy ? (run.done ?? 0) : sent.length - unanswered(run).length
  return [
    section(
      d(run.isDone ? 'table.done' : run.isBusy ? 'table.busy' : 'table.halted'),
      !run.isKept && run.runId === undefined && viewNotice(d('table.notKept')),
      h('progress', { max: String(sent.length), value: String(done), 'aria-labelledby': 'count' }),
      h(
        'p',
        { id: 'count' },
        d('table.progress', { done: showNumber(done), all: showNumber(sent.length) }),
      ),
      viewTrouble(run.trouble),
      run.isBusy && h('p', { id: 'waiting', role: 'status' }),
      run.isBusy && hint(d('table.busy.hint')),
      !run.isBusy && !run.isDone && hint(d('table.halted.hint')),
      h('div', { class: 'ways' }, ...viewRunButtons(desk, run)),
    ),
    run.isDone && viewFiles(desk, run),
    run.isDone && viewCertificates(desk, run),
    Object.keys(results).length > 0 && !run.isBusy && viewList(desk, run),
  ]
}

function viewRunButtons(desk: Desk, run: TableRun): (HTMLElement | false)[] {
  const isPending = Object.values(run.results).some(
    (result) => 'status' in result && result.status === 'pending',
  )
  return [
    run.isBusy && run.mode === 'single' && button(d('table.stop'), () => stop(desk, run)),
    !run.isBusy &&
      !run.isDone &&
      button(d('table.goOn'), () => goOn(desk, run), { class: 'primary', id: 'go-on' }),
    isPending &&
      !run.isBusy &&
      button(d('table.refresh'), () => look(desk, run), { id: 'refresh' }),
  ]
}

const button = (label: string, click: () => unknown, more: Record<string, string> = {}) =>
  h('button', { ...more, type: 'button', click }, label)

async function stop(desk: Desk, { runId = '' }: TableRun): Promise<void> {
  try {
    await desk.client.stopRun({ path: { id: runId } })
  } catch (error) {
    desk.announce(wordsOf(error))
  }
}

async function look(desk: Desk, run: TableRun): Promise<void> {
  delete run.trouble
  try {
    await refresh(desk.client, run)
  } catch (error) {
    run.trouble = wordsOf(error)
  }
  desk.redraw('heading')
}

/** The results as files, and the rows that are left. */
function viewFiles(desk: Desk, run: TableRun): HTMLElement {
  const failed = failedRows(run)
  const save = (name: string, bytes: Uint8Array) => saveBytes(name, bytes, 'text/csv')
  return section(
    d('table.files'),
    hint(d('table.files.hint')),
    h(
      'div',
      { class: 'ways' },
      button(d('table.issued'), () => save('issued.csv', issuedTable(run)), { class: 'primary' }),
      failed.length > 0 &&
        button(d('table.failed', { count: showNumber(failed.length) }), () =>
          save('failed.csv', failedTable(run)),
        ),
      failed.length > 0 && button(d('table.mend'), () => mend(desk, run, failed), { id: 'mend' }),
      button(d('table.another'), () => leave(desk)),
    ),
  )
}

/** The certificates of the documents that are valid by now. */
function viewCertificates(desk: Desk, run: TableRun): HTMLElement | false {
  const hashes = Object.values(run.results).flatMap((result) =>
    'publicId' in result && result.status === 'valid' ? [result.documentHash] : [],
  )
  const [first, ...others] = hashes
  if (first === undefined) return false
  if (others.length === 0) return viewCertificate(desk, first)
  const printing =
    (some: string[]) => async (template: string, progress: (text: string) => void) => {
      const all = showNumber(some.length)
      const { files, notPrinted } = await printMany(
        desk.client,
        template,
        some,
        (failed) => notPrintedTable(run, failed),
        (done) => progress(d('certificate.progress', { done: showNumber(done), all })),
      )
      for (const [i, file] of files.entries())
        saveBlob(`certificates${files.length > 1 ? `-${i + 1}` : ''}.zip`, file)
      run.notPrinted = notPrinted
      desk.redraw()
    }
  const { notPrinted = {} } = run
  const missing = Object.keys(notPrinted)
  const ways = { [d('certificate.zip')]: printing(hashes) }
  const trouble: string[] = []
  if (missing.length > 0) {
    ways[d('certificate.again')] = printing(missing)
    const count = showNumber(missing.length)
    trouble.push(d('certificate.failed', { count }), ...new Set(Object.values(notPrinted)))
  }
  return viewPrinting(desk, { ways, note: d('certificate.secret'), trouble: trouble.join(' ') })
}

async function leave(desk: Desk): Promise<void> {
  const isYes = await ask({
    title: d('table.another'),
    content: [h('p', {}, d('table.leave'))],
    does: d('table.another'),
  })
  if (isYes) giveUp(desk)
}

/** Begins anew with the rows that were not issued. */
async function mend(desk: Desk, run: TableRun, failed: number[]): Promise<void> {
  const isYes = await ask({
    title: d('table.mend'),
    content: [h('p', {}, d('table.leave'))],
    does: d('table.mend'),
  })
  if (!isYes) return
  removeRun(desk, run)
  const { columns, dialect, name, map, set, dates } = run
  const rows = failed.flatMap((index) => run.rows[index] ?? [])
  const next = { ...newRun(name, { columns, rows, dialect }), map, set, ...(dates && { dates }) }
  desk.memory.table = next
  keepRun(next)
  desk.redraw('heading')
}

function viewList(desk: Desk, run: TableRun): HTMLElement {
  const { sent = [], results } = run
  const answered = sent.filter((index) => results[index] !== undefined)
  const shown = answered.slice(run.page * PAGE, (run.page + 1) * PAGE)
  const columns = [d('table.line'), t('document.subjectName'), d('find.status'), d('table.link')]
  return h(
    'section',
    {},
    h('h2', { id: 'rows', tabindex: '-1' }, d('table.rows')),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-labelledby': 'rows' },
      h(
        'table',
        { class: 'list' },
        h('thead', {}, h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, ...shown.map((index) => viewResult(run, index, results[index] as Result))),
      ),
    ),
    viewPages(desk, run, answered.length),
  )
}

function viewResult(run: TableRun, index: number, result: Result): HTMLElement {
  const name = check(run).good.get(index)?.subjectName ?? ''
  const isIssued = 'publicId' in result
  const problem = isIssued ? run.notPrinted?.[result.documentHash] : result.problem
  return h(
    'tr',
    {},
    h('td', {}, showNumber(run.rows[index]?.line ?? 0)),
    h(
      'th',
      { scope: 'row' },
      isIssued
        ? h('a', { href: `#/documents/${result.documentHash}` }, foreign(name))
        : foreign(name),
    ),
    h(
      'td',
      {},
      isIssued && viewStatus(result.status as 'valid'),
      problem !== undefined && foreign(problem, { class: 'problem' }),
    ),
    h('td', {}, isIssued && outside(linkOf(run, result.publicId), d('passOn.open'))),
  )
}
