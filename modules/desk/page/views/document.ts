import { CallError, type IssuedDocument, type Verdict } from '#client/index.ts'
import { h } from '#web/dom.ts'
import { t } from '#web/i18n.ts'
import { viewChecks } from '#web/views/checks.ts'
import type { Desk, View } from '../desk.ts'
import { typedOf } from '../fields.ts'
import { d, quoted } from '../i18n.ts'
import { keepCorrection, newIssuing } from '../issuing.ts'
import { kindName } from '../kinds.ts'
import { wordsOf } from '../problems.ts'
import { forgetName } from '../remembered.ts'
import { may } from '../session.ts'
import { type Act, viewActs } from './acts.ts'
import { viewCertificate } from './certificate.ts'
import { ask } from './dialog.ts'
import { viewFacts } from './facts.ts'
import { viewPassOn } from './issue.ts'
import { field, hint, section, statusWords, viewStatus, viewTrouble } from './parts.ts'
import { viewWallet } from './wallet.ts'

/** What is shown of one document, apart from the document itself. */
type Shown = {
  hash: string
  trouble?: string
  verdict?: Verdict
  isBusy?: boolean
  acts?: readonly Act[]
}

let shown: Shown = { hash: '' }

export function viewOne(desk: Desk, hash: string): View {
  if (shown.hash !== hash) {
    shown = { hash }
    load(desk, shown)
  }
  const document = desk.memory.shown.get(hash)
  if (document === undefined)
    return {
      title: d('document.heading'),
      content: [
        h(
          'section',
          {},
          shown.trouble === undefined
            ? h('p', { role: 'status' }, d('loading'))
            : viewTrouble(shown.trouble),
          shown.trouble !== undefined &&
            h('button', { type: 'button', click: () => again(desk, shown) }, t('retry')),
        ),
        viewActs(shown.acts ?? []),
      ],
    }
  return { title: d('document.heading'), content: viewContent(desk, document, shown) }
}

function again(desk: Desk, one: Shown): void {
  delete one.trouble
  load(desk, one, 'heading')
}

async function load(desk: Desk, one: Shown, focus?: string): Promise<void> {
  const { hash } = one
  const path = { publicId: hash }
  const listing = desk.client.listActs({ path }).catch(() => ({ acts: [] }))
  try {
    const document = await desk.client.retrieveDocument({ path })
    desk.memory.shown.set(hash, document)
  } catch (error) {
    desk.memory.shown.delete(hash)
    if (error instanceof CallError && error.code === 'erased') forgetName(desk.session, hash)
    one.trouble = wordsOf(error)
  }
  one.acts = (await listing).acts
  if (shown === one && desk.isAt(`#/documents/${hash}`)) desk.redraw(focus)
}

function viewContent(desk: Desk, document: IssuedDocument, one: Shown): View['content'] {
  return [
    h(
      'section',
      { class: 'document', 'data-status': document.status },
      h('p', {}, viewStatus(document.status)),
      viewFacts(document),
      document.supersededBy !== undefined &&
        h('a', { href: `#/documents/${document.supersededBy}` }, t('superseded.open')),
      document.supersedes !== undefined &&
        h('a', { href: `#/documents/${document.supersedes}` }, d('document.older')),
    ),
    viewActions(desk, document, one),
    viewVerdict(desk, document, one),
    viewActs(one.acts ?? []),
    viewPassOn(desk, document),
    document.status === 'valid' && viewCertificate(desk, document.documentHash),
    viewWallet(desk, document),
  ]
}

type Name = 'revoke' | 'suspend' | 'release' | 'correct' | 'erase'

/** @returns What may be done with a document now. */
function actionsFor(desk: Desk, { status, category }: IssuedDocument): Name[] {
  const { session } = desk
  const { categories } = session.person
  if (categories !== null && !categories.includes(category)) return []
  const mayChange = may(session, 'documents:revoke')
  const isOpen = ['valid', 'expired', 'suspended'].includes(status)
  const all: Record<Name, boolean> = {
    correct: mayChange && may(session, 'documents:issue') && isOpen,
    suspend: mayChange && ['valid', 'expired'].includes(status),
    release: mayChange && status === 'suspended',
    revoke: mayChange && isOpen,
    erase: may(session, 'documents:erase') && ['revoked', 'superseded', 'expired'].includes(status),
  }
  return (Object.keys(all) as Name[]).filter((name) => all[name])
}

function viewActions(desk: Desk, document: IssuedDocument, one: Shown): HTMLElement | false {
  const names = actionsFor(desk, document)
  if (names.length === 0 && one.trouble === undefined) return false
  const acts: Record<Name, () => void> = {
    correct: () => correct(desk, document),
    suspend: () => change(desk, document, one, 'suspend'),
    release: () => change(desk, document, one, 'release'),
    revoke: () => change(desk, document, one, 'revoke'),
    erase: () => change(desk, document, one, 'erase'),
  }
  return section(
    d('actions.heading'),
    viewTrouble(one.trouble),
    one.isBusy && h('p', { role: 'status', id: 'busy', tabindex: '-1' }, d('actions.busy')),
    h(
      'div',
      { class: 'ways' },
      ...names.map((name) =>
        h(
          'button',
          {
            type: 'button',
            id: `do-${name}`,
            disabled: one.isBusy === true,
            class: name === 'revoke' || name === 'erase' ? 'danger' : undefined,
            click: acts[name],
          },
          d(`${name}.do`),
        ),
      ),
    ),
  )
}

function correct(desk: Desk, document: IssuedDocument): void {
  const { correction } = desk.memory
  if (correction?.hash !== document.documentHash) {
    const typed = typedOf(document)
    const fresh = { ...newIssuing(typed), hash: document.documentHash, before: typedOf(document) }
    desk.memory.correction = fresh
    keepCorrection(fresh)
  }
  desk.go('#/correct')
}

const REASONS = [
  'unspecified',
  'keyCompromise',
  'affiliationChanged',
  'cessationOfOperation',
  'privilegeWithdrawn',
] as const
type Reason = (typeof REASONS)[number]

/** Why a document is revoked. */
export function reasonSelect(): HTMLSelectElement {
  return h(
    'select',
    { id: 'reason' },
    ...REASONS.map((value) => h('option', { value }, t(`reason.${value}`))),
  )
}

async function change(
  desk: Desk,
  document: IssuedDocument,
  one: Shown,
  name: Exclude<Name, 'correct'>,
): Promise<void> {
  const reason = reasonSelect()
  const isYes = await ask({
    title: d(`${name}.question`, {
      kind: quoted(kindName(document.category)),
      name: quoted(document.subjectName),
    }),
    content: [
      h('p', {}, d(`${name}.text`)),
      name === 'revoke' && field(d('revoke.reason'), reason, { hint: d('revoke.reason.hint') }),
    ],
    does: d(`${name}.do`),
    isFinal: name === 'revoke' || name === 'erase',
  })
  if (!isYes) return
  one.isBusy = true
  delete one.trouble
  desk.redraw('busy')
  await carryOut(desk, document, one, name, reason.value as Reason)
}

async function carryOut(
  desk: Desk,
  { documentHash }: IssuedDocument,
  one: Shown,
  name: Exclude<Name, 'correct'>,
  reason: Reason,
): Promise<void> {
  const path = { publicId: documentHash }
  const { client } = desk
  const calls = {
    revoke: () => client.revokeDocument({ path, body: { reason } }),
    suspend: () => client.suspendDocument({ path, body: {} }),
    release: () => client.releaseDocument({ path, body: {} }),
    erase: () => client.eraseDocument({ path }),
  }
  try {
    const answer = await calls[name]()
    desk.announce(d(answer.status === 'pending' ? 'actions.pending' : `${name}.done`))
    delete one.verdict
    // Revoking again changes nothing, so the reason of the first one stays.
    if (name === 'revoke' && 'reason' in answer && answer.reason !== reason)
      one.trouble = d('error.already_revoked')
  } catch (error) {
    one.trouble =
      error instanceof CallError && error.code === 'no_answer'
        ? d('actions.unknown')
        : wordsOf(error)
  } finally {
    one.isBusy = false
  }
  await load(desk, one, 'heading')
}

/** What a reader of the QR code would see, as far as the service can tell. */
function viewVerdict(desk: Desk, document: IssuedDocument, one: Shown): HTMLElement {
  const { verdict } = one
  return section(
    d('verdict.heading'),
    verdict && h('p', {}, viewStatus(verdict.status)),
    verdict ? viewChecks(verdict.checks) : hint(d('verdict.hint')),
    h(
      'div',
      { class: 'ways' },
      h(
        'button',
        { type: 'button', id: 'check', click: () => check(desk, document, one) },
        d('verdict.check'),
      ),
    ),
  )
}

async function check(desk: Desk, { publicId }: IssuedDocument, one: Shown): Promise<void> {
  try {
    one.verdict = await desk.client.verifyDocument({ query: { publicId } })
    desk.announce(statusWords(one.verdict.status))
  } catch (error) {
    one.trouble = wordsOf(error)
  }
  if (shown === one) desk.redraw('check')
}
