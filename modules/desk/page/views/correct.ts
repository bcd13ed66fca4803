import { readNewDocument } from '#document/new-document.ts'
import { h } from '#web/dom.ts'
import type { Desk, View } from '../desk.ts'
import { documentOf, keyOf, repeatedNames } from '../fields.ts'
import { d, quoted } from '../i18n.ts'
import { type Correction, forgetCorrection, keepCorrection } from '../issuing.ts'
import { kindName, kindOf } from '../kinds.ts'
import { remember } from '../remembered.ts'
import { ask } from './dialog.ts'
import { viewChanges } from './facts.ts'
import { firstBad, viewDraft } from './form.ts'
import { fail } from './issue.ts'
import { hint } from './parts.ts'

/** A document is corrected by another one that replaces it. */
export function viewCorrect(desk: Desk): View {
  const { correction } = desk.memory
  const title = d('correct.heading')
  if (correction === undefined)
    return { title, content: [h('section', {}, h('p', {}, d('correct.none')))] }
  const draft = {
    submit: () => void submit(desk, correction),
    changed: () => keepCorrection(correction),
    busy: d('actions.busy'),
    check: d('correct.check'),
    leave: h('a', { class: 'button', href: `#/documents/${correction.hash}` }, d('cancel')),
  }
  return {
    title,
    content: [viewDraft(desk, correction, draft, { before: hint(d('correct.hint')) })],
  }
}

async function submit(desk: Desk, correction: Correction): Promise<void> {
  if (correction.isBusy) return
  const read = readNewDocument(documentOf(correction.typed), Date.now(), kindOf)
  const changes = viewChanges(correction.before, correction.typed)
  correction.problems = [
    ...repeatedNames(correction.typed),
    ...('problems' in read ? read.problems : []),
  ]
  delete correction.trouble
  if (changes === undefined) correction.trouble = d('correct.same')
  if (correction.problems.length > 0 || changes === undefined || 'problems' in read) {
    desk.redraw(firstBad(correction.problems, correction.typed) ?? 'submit')
    return
  }
  const { fields } = read
  desk.redraw('submit')
  const { subjectName } = correction.before
  const kind = quoted(kindName(correction.before.category))
  const isYes =
    correction.isSent ||
    (await ask({
      title: d('correct.question', { kind, name: quoted(subjectName) }),
      content: [changes, h('p', {}, d('correct.text'))],
      does: d('correct.do'),
      isFinal: true,
    }))
  if (!isYes) return
  correction.isBusy = true
  correction.isSent = true
  keepCorrection(correction)
  desk.redraw('busy')
  try {
    const issued = await desk.client.supersedeDocument({
      path: { publicId: correction.hash },
      body: fields,
      idempotencyKey: keyOf(correction.id, fields),
    })
    remember(desk.session, [issued])
    forgetCorrection()
    desk.memory.shown.delete(correction.hash)
    delete desk.memory.correction
    desk.announce(d('correct.done'))
    desk.go(`#/documents/${issued.documentHash}`)
  } catch (error) {
    fail(desk, correction, error, keyOf(correction.id, fields))
    correction.isBusy = false
    keepCorrection(correction)
    if (desk.isAt('#/correct'))
      desk.redraw(firstBad(correction.problems, correction.typed) ?? 'submit')
  }
}
