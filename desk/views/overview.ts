import type { Document, UnopenedDocument } from '#client/index.ts'
import { h } from '#web/dom.ts'
import type { Desk, View } from '../desk.ts'
import { d, maybeD, quoted } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { isAddress, may, mayUsePasskeys } from '../session.ts'
import { viewDocuments } from './find.ts'
import { hint, section, viewNotice, viewTrouble } from './parts.ts'

const RECENT = 10

export function viewOverview(desk: Desk): View {
  const { session } = desk
  const mayIssue = may(session, 'documents:issue')
  const way = (route: string, label: string, isFirst = false) =>
    h('a', { class: isFirst ? 'button primary' : 'button', href: route }, label)
  return {
    title: d('overview.heading', { name: quoted(session.person.name) }),
    tab: d('nav.overview'),
    content: [
      h(
        'section',
        {},
        h(
          'div',
          { class: 'ways' },
          mayIssue && way('#/issue', d('nav.issue'), true),
          mayIssue && way('#/table', d('nav.table')),
          way('#/find', d('nav.find')),
        ),
        hint(d(`role.${session.person.role}`)),
      ),
      session.passkeys === 0 && viewNoPasskey(),
      viewHealth(desk),
      viewRecent(desk),
    ],
  }
}

function viewNoPasskey(): HTMLElement {
  if (mayUsePasskeys())
    return section(
      d('passkey.heading'),
      h('p', {}, d('passkey.text')),
      h('div', { class: 'ways' }, h('a', { class: 'button', href: '#/me' }, d('passkey.make'))),
    )
  return section(
    d('passkey.none'),
    h('p', {}, d(isAddress() ? 'passkey.address' : 'passkey.lacking')),
  )
}

/** What keeps the service from issuing, or soon will. */
function viewHealth(desk: Desk): HTMLElement {
  const place = h('div', { class: 'health' })
  desk.impatient.checkReadiness().then(
    ({ warnings }) =>
      place.replaceChildren(
        ...warnings.map((name) => viewNotice(maybeD(`warning.${name}`) ?? name)),
      ),
    () => place.replaceChildren(viewNotice(d('warning.notReady'))),
  )
  return place
}

function viewRecent(desk: Desk): HTMLElement {
  const place = h('div', {}, h('p', {}, d('loading')))
  const show = (documents: (Document | UnopenedDocument)[]) => {
    for (const one of documents) if ('category' in one) desk.memory.categories.add(one.category)
    place.replaceChildren(
      documents.length === 0 ? h('p', {}, d('find.nothing')) : viewDocuments(documents),
    )
  }
  desk.client.listDocuments({ query: { limit: RECENT } }).then(
    ({ documents }) => show(documents),
    (error) => place.replaceChildren(viewTrouble(wordsOf(error))),
  )
  return section(d('overview.recent'), place)
}
