import type { Document, UnopenedDocument } from '#client/index.ts'
import { h } from '#web/dom.ts'
import type { Desk, View } from '../desk.ts'
import { d, quoted } from '../i18n.ts'
import { wordsOf } from '../problems.ts'
import { isAddress, may, mayUsePasskeys } from '../session.ts'
import { viewDocuments } from './find.ts'
import { hint, section, viewTrouble } from './parts.ts'
import { viewState } from './state.ts'

const RECENT = 10

export function viewOverview(desk: Desk): View {
  const { notices, numbers } = viewState(desk)
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
      session.passkeys === 0 && !session.person.isFromProvider && viewNoPasskey(),
      notices,
      viewRecent(desk),
      numbers,
    ],
  }
}

function viewNoPasskey(): HTMLElement {
  if (mayUsePasskeys())
    return section(
      d('passkey.heading'),
      h('p', {}, d('passkey.text')),
      h('div', { class: 'ways' }, h('a', { class: 'button', href: '#/me' }, d('passkey.heading'))),
    )
  return section(
    d('passkey.none'),
    h('p', {}, d(isAddress() ? 'passkey.address' : 'passkey.lacking')),
  )
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
