import { CallError, type Client, type Document } from '#client/index.ts'
import { foreign, h } from '#web/dom.ts'
import { showNumber } from '#web/i18n.ts'
import type { Desk } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import type { Search } from '../search.ts'
import { ask } from './dialog.ts'
import { reasonSelect } from './document.ts'
import { field, viewTrouble } from './parts.ts'

const CHANGES = ['suspend', 'release', 'revoke'] as const
type Change = (typeof CHANGES)[number]

/**
 * What can be done with the documents that are ticked in a list.
 *
 * @param done Called when the list has to be read again.
 */
export function viewSeveral(
  desk: Desk,
  search: Search,
  documents: readonly Document[],
  done: () => void,
): { element: HTMLElement; ticked: () => void } {
  const count = h('p', { role: 'status' })
  const buttons = CHANGES.map((name) =>
    h(
      'button',
      {
        type: 'button',
        id: `several-${name}`,
        class: name === 'revoke' ? 'danger' : undefined,
        click: () => change(desk, search, chosen(), name, done),
      },
      d(`${name}.do`),
    ),
  )
  const chosen = () => documents.filter(({ documentHash }) => search.chosen.has(documentHash))
  function ticked(): void {
    const { length } = chosen()
    count.textContent = d('several.chosen', { count: showNumber(length) })
    for (const button of buttons) button.disabled = length === 0
  }
  ticked()
  const { report } = search
  const element = h(
    'div',
    { class: 'several' },
    report && h('p', {}, report.summary),
    report && viewTrouble(report.problems.join('\n')),
    count,
    h('div', { class: 'ways' }, ...buttons),
  )
  return { element, ticked }
}

async function change(
  desk: Desk,
  search: Search,
  documents: readonly Document[],
  name: Change,
  done: () => void,
): Promise<void> {
  const reason = reasonSelect()
  const isYes = await ask({
    title: d('several.question', {
      what: d(`${name}.do`),
      count: showNumber(documents.length),
    }),
    content: [
      h(
        'ul',
        { class: 'names' },
        ...documents.map(({ subjectName }) => h('li', {}, foreign(subjectName))),
      ),
      h('p', {}, d(`${name}.text`)),
      name === 'revoke' && field(d('revoke.reason'), reason, { hint: d('revoke.reason.hint') }),
    ],
    does: d(`${name}.do`),
    isFinal: name === 'revoke',
  })
  if (!isYes) return
  const entries = documents.map(({ documentHash }) => ({ documentHash }))
  const problems: string[] = []
  let count = 0
  desk.announce(d('actions.busy'))
  try {
    for await (const line of linesOf(desk.client, name, entries, reason.value)) {
      const of = quoted(documents[line.line - 1]?.subjectName ?? '')
      if (line.success) count++
      else problems.push(`${of}: ${wordsOf(new CallError(line.error.code, line.error.message))}`)
    }
  } catch (error) {
    problems.push(
      error instanceof CallError && error.code === 'no_answer'
        ? d('actions.unknown')
        : wordsOf(error),
    )
  }
  const summary = d('several.done', {
    done: showNumber(count),
    all: showNumber(documents.length),
  })
  search.chosen.clear()
  search.report = { summary, problems }
  done()
}

function linesOf(
  client: Client,
  name: Change,
  entries: { documentHash: string }[],
  reason: string,
) {
  if (name === 'suspend') return client.suspendDocuments({ body: entries })
  if (name === 'release') return client.releaseDocuments({ body: entries })
  return client.revokeDocuments({
    body: entries.map((entry) => ({ ...entry, reason: reason as 'unspecified' })),
  })
}
