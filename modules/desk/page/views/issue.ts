import { CallError, type Document, type IssuedDocument } from '#client/index.ts'
import type { DocumentFields } from '#document/document.ts'
import { readNewDocument } from '#document/new-document.ts'
import { foreign, h } from '#web/dom.ts'
import { t } from '#web/i18n.ts'
import { allFields, viewFields } from '#web/views/document.ts'
import { viewQr } from '#web/views/qr-code.ts'
import type { Desk, View } from '../desk.ts'
import { documentOf, keyOf, repeatedNames } from '../fields.ts'
import { d, quoted } from '../i18n.ts'
import { forgetIssuing, type Issuing, keepIssuing, newIssuing } from '../issuing.ts'
import { kindName, kindOf } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { remember } from '../remembered.ts'
import { viewCertificate, viewPreview } from './certificate.ts'
import { ask } from './dialog.ts'
import { firstBad, viewDraft } from './form.ts'
import { copyButton, hint, outside, viewStatus } from './parts.ts'

/** Milliseconds between two looks at a document that waits for its block. */
const POLL_MS = 2_000

export function viewIssue(desk: Desk): View {
  const { issuing } = desk.memory
  return issuing.issued ? viewIssued(desk, issuing.issued) : viewIssueForm(desk, issuing)
}

function viewIssueForm(desk: Desk, issuing: Issuing): View {
  const leave = h(
    'button',
    { type: 'button', disabled: issuing.isBusy, click: () => startAnew(desk, issuing) },
    d('issue.clear'),
  )
  const draft = {
    submit: () => void submit(desk, issuing),
    changed: () => keepIssuing(issuing),
    busy: d('issue.busy'),
    check: d('issue.check'),
    leave,
  }
  const content = [
    viewDraft(desk, issuing, draft, { after: hint(d('issue.kept')) }),
    viewPreview(desk, () => readTyped(desk, issuing)),
  ]
  return { title: d('nav.issue'), content }
}

async function startAnew(desk: Desk, { isSent }: Issuing): Promise<void> {
  const isWanted =
    !isSent ||
    (await ask({
      title: d('issue.clear'),
      content: [h('p', {}, d('issue.clear.sent'))],
      does: d('issue.clear'),
    }))
  if (!isWanted) return
  forgetIssuing()
  desk.memory.issuing = newIssuing()
  desk.redraw('subjectName')
}

/** @returns The document that was typed; `undefined` when it has problems, which are then shown. */
function readTyped(desk: Desk, issuing: Issuing): DocumentFields | undefined {
  const read = readNewDocument(documentOf(issuing.typed), Date.now(), kindOf)
  const problems = [...repeatedNames(issuing.typed), ...('problems' in read ? read.problems : [])]
  issuing.problems = problems
  delete issuing.trouble
  if (problems.length > 0 || 'problems' in read) {
    desk.redraw(firstBad(problems, issuing.typed))
    return undefined
  }
  return read.fields
}

async function submit(desk: Desk, issuing: Issuing): Promise<void> {
  if (issuing.isBusy) return
  const fields = readTyped(desk, issuing)
  if (fields === undefined) return
  // What was wrong before is not any more.
  desk.redraw('submit')
  if (!issuing.isSent && !(await ask(questionFor(fields)))) return
  await send(desk, issuing, fields)
}

const questionFor = (fields: DocumentFields) => ({
  title: d('issue.question', {
    kind: quoted(kindName(fields.category)),
    name: quoted(fields.subjectName),
  }),
  content: [
    hint(d('issue.specimen')),
    ...viewFields(allFields(fields), fields, kindOf(fields.category)),
    h('p', {}, d('issue.final')),
  ],
  does: d('issue.do'),
})

async function send(desk: Desk, issuing: Issuing, fields: DocumentFields): Promise<void> {
  issuing.isBusy = true
  issuing.isSent = true
  keepIssuing(issuing)
  desk.redraw('busy')
  desk.announce(d('issue.busy'))
  try {
    const issued = await desk.client.issueDocument({
      body: fields,
      idempotencyKey: keyOf(issuing.id, fields),
    })
    issuing.issued = issued
    forgetIssuing()
    desk.memory.categories.add(fields.category)
    remember(desk.session, [issued])
  } catch (error) {
    fail(desk, issuing, error, keyOf(issuing.id, fields))
    keepIssuing(issuing)
  } finally {
    issuing.isBusy = false
  }
  if (!desk.isAt('#/issue')) return
  const { issued, problems, typed } = issuing
  desk.redraw(issued ? 'heading' : (firstBad(problems, typed) ?? 'submit'))
}

/**
 * @param issuing Gets what went wrong. It stays locked only if it may have been issued.
 * @param key The Idempotency-Key.
 */
export function fail(desk: Desk, issuing: Issuing, error: unknown, key: string): void {
  issuing.trouble = wordsOf(error)
  issuing.isSent = desk.mayBeDone(key)
  if (error instanceof CallError && error.code === 'bad_fields')
    issuing.problems = error.details.flatMap((one) => ('field' in one ? [one] : []))
}

function viewIssued(desk: Desk, issued: IssuedDocument): View {
  const isPending = issued.status === 'pending'
  if (isPending) watch(desk, issued)
  return {
    title: d(isPending ? 'issued.pending' : 'issued.heading'),
    content: [
      h(
        'section',
        { class: `verdict ${isPending ? 'open' : 'good'}`, 'data-status': issued.status },
        h('p', { class: 'to' }, foreign(issued.subjectName), ' ', viewStatus(issued.status)),
        h('p', {}, d(isPending ? 'issued.pending.text' : 'issued.text')),
        h(
          'div',
          { class: 'ways' },
          h(
            'button',
            {
              type: 'button',
              class: 'primary',
              click: () => {
                desk.memory.issuing = newIssuing()
                desk.redraw('subjectName')
              },
            },
            d('issued.another'),
          ),
          h('a', { class: 'button', href: `#/documents/${issued.documentHash}` }, d('issued.open')),
        ),
      ),
      viewPassOn(desk, issued),
      !isPending && viewCertificate(desk, issued.documentHash),
    ],
  }
}

/** The QR code and the link, with a warning: both open the document. */
export function viewPassOn(desk: Desk, { verifyUrl }: Pick<Document, 'verifyUrl'>): HTMLElement {
  return h(
    'section',
    { class: 'pass-on' },
    h('h2', {}, d('passOn.heading')),
    viewQr(verifyUrl, d('passOn.qr')),
    h(
      'div',
      { class: 'ways' },
      h('button', { type: 'button', click: () => print() }, t('print')),
      copyButton(t('share.link'), verifyUrl, desk.announce),
      outside(verifyUrl, d('passOn.open')),
    ),
    hint(d('passOn.secret')),
  )
}

const watched = new WeakSet<IssuedDocument>()

/** Looks at the document until it is in a block. */
function watch(desk: Desk, issued: IssuedDocument): void {
  if (watched.has(issued)) return
  watched.add(issued)
  setTimeout(async () => {
    const { issuing } = desk.memory
    if (issuing.issued !== issued) return
    const now = await desk.impatient
      .retrieveDocument({ path: { publicId: issued.documentHash } })
      .catch(() => issued)
    if (issuing.issued !== issued) return
    issuing.issued = { ...issued, status: now.status }
    if (!desk.isAt('#/issue')) return
    if (now.status === 'pending') watch(desk, issuing.issued)
    else {
      desk.redraw()
      desk.announce(d('issued.heading'))
    }
  }, POLL_MS)
}
