import { CallError, type Session } from '#client/index.ts'
import { h } from '#web/dom.ts'
import { preferredLanguage, useLanguage } from '#web/i18n.ts'
import { viewLanguages } from '#web/views/languages.ts'
import { type Api, createApi } from './api.ts'
import type { Desk, Memory, View } from './desk.ts'
import { DESK_LANGUAGES, d, loadTexts, quoted } from './i18n.ts'
import { keptCorrection, keptIssuing, newIssuing } from './issuing.ts'
import { forgetAll, keep, kept } from './kept.ts'
import { forgetKinds, readKinds } from './kinds.ts'
import { wordsOf } from './problems.ts'
import { newSearch } from './search.ts'
import { invitationIn, may, readSession, refusalIn } from './session.ts'
import { keptTable } from './table/run.ts'
import { viewCorrect } from './views/correct.ts'
import { viewOne } from './views/document.ts'
import { viewFind } from './views/find.ts'
import { viewIssue } from './views/issue.ts'
import { viewKinds } from './views/kinds.ts'
import { viewMe } from './views/me.ts'
import { viewOverview } from './views/overview.ts'
import { viewNetwork, viewTrouble } from './views/parts.ts'
import { viewPeople } from './views/people.ts'
import { viewPrograms } from './views/programs.ts'
import { viewSignIn } from './views/sign-in.ts'
import { viewTable } from './views/table.ts'

const header = document.querySelector('header') ?? h('header')
const main = document.querySelector('main') ?? h('main')
/** Screen readers announce its changes, so it survives redraws. */
const live = h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' })
/** Says that the service is out of reach, above everything else. */
const trouble = h('p', { class: 'trouble', role: 'status' })
document.body.append(header, trouble, live, main)

let session: Session | undefined
let memory = freshMemory()
let api: Api | undefined
let invitation = takeInvitation()
let refused = takeRefusal()

/** The other tabs of this desk, which forget what was typed when the person signs out in one. */
const tabs = new BroadcastChannel('document-registry.desk')
tabs.addEventListener('message', () => {
  if (session !== undefined) end(true)
})
addEventListener('beforeunload', (event) => {
  if (memory.table?.isBusy && memory.table.runId === undefined) event.preventDefault()
})

useLanguage(preferredLanguage(DESK_LANGUAGES))
addEventListener('hashchange', () => {
  invitation = takeInvitation() ?? invitation
  draw('heading')
  refreshKinds()
})
start()

function freshMemory(): Memory {
  return {
    issuing: newIssuing(),
    search: newSearch(),
    shown: new Map(),
    categories: new Set(),
  }
}

/** The secret of a link leaves the address at once, before anybody can look over a shoulder. */
function takeInvitation(): string | undefined {
  const secret = invitationIn(location.hash)
  if (secret !== undefined) history.replaceState(null, '', location.pathname)
  return secret
}

function takeRefusal(): string | undefined {
  const code = refusalIn(location.hash)
  if (code !== undefined) history.replaceState(null, '', location.pathname)
  return code
}

async function start(): Promise<void> {
  try {
    const [found] = await Promise.all([readSession(), loadTexts()])
    const opened = invitation
    if (found) begin(found)
    invitation = opened
    draw()
  } catch (error) {
    main.removeAttribute('aria-busy')
    main.replaceChildren(h('section', {}, viewTrouble(wordsOf(error)), retryButton()))
  }
}

function retryButton(): HTMLElement {
  return h('button', { type: 'button', click: () => start() }, d('retry'))
}

/** @param begun The session of a person who has just signed in, or was before a reload. */
function begin(begun: Session): void {
  // What another person typed in this tab is not shown.
  if (kept('person') !== begun.person.id) {
    forgetAll()
    memory = freshMemory()
  }
  keep('person', begun.person.id)
  session = begun
  invitation = undefined
  refused = undefined
  memory.issuing = keptIssuing()
  const correction = keptCorrection()
  if (correction) memory.correction = correction
  const table = keptTable()
  if (table) memory.table = table
  draw('heading')
  refreshKinds()
}

/** Kinds of documents are no condition for anything: without an answer, the desk goes on. */
async function refreshKinds(): Promise<void> {
  if (session === undefined || !may(session, 'documents:issue')) return
  const hasChanged = await readKinds(apiOfPage().impatient).catch(() => false)
  if (hasChanged) draw(document.activeElement?.id || undefined)
}

/** @param isTold Whether another tab has signed out. */
function end(isTold = false): void {
  if (!isTold) tabs.postMessage('signed out')
  session = undefined
  forgetKinds()
  if (memory.table) memory.table.isLeft = true
  forgetAll()
  memory = freshMemory()
  history.replaceState(null, '', location.pathname)
  draw('heading')
}

function apiOfPage(): Api {
  api ??= createApi({
    csrfToken: () => session?.csrfToken ?? '',
    signInAgain: () => {
      again ??= askToSignIn().finally(() => {
        again = undefined
      })
      return again
    },
    async refresh() {
      const found = await readSession()
      return found !== undefined && resume(found)
    },
    onTrouble(isInTrouble) {
      trouble.textContent = isInTrouble ? d('trouble') : ''
    },
  })
  return api
}

/** Many requests may find at once that the session has ended; one dialog is enough. */
let again: Promise<boolean> | undefined

/** @returns Whether it is the same person; another one begins with an empty desk. */
function resume(found: Session): boolean {
  const isSame = found.person.id === session?.person.id
  if (isSame) session = found
  else begin(found)
  return isSame
}

/** Asks the person to sign in again, above what is typed. */
function askToSignIn(): Promise<boolean> {
  const before = document.activeElement
  return new Promise((resolve) => {
    let isResumed = false
    const dialog = h(
      'dialog',
      {
        'aria-labelledby': 'again',
        close: () => {
          dialog.remove()
          if (before instanceof HTMLElement && before.isConnected) before.focus()
          resolve(isResumed)
        },
      },
      h('h2', { id: 'again', tabindex: '-1', autofocus: true }, d('signIn.again')),
      h('p', {}, d('signIn.again.text')),
      viewSignIn({
        isAgain: true,
        done: (found) => {
          isResumed = resume(found)
          dialog.close()
        },
      }),
      h('button', { type: 'button', click: () => dialog.close() }, d('cancel')),
    )
    document.body.append(dialog)
    dialog.showModal()
  })
}

const route = () => location.hash || '#/'

function deskOf(begun: Session): Desk {
  const { client, impatient, mayBeDone } = apiOfPage()
  return {
    client,
    impatient,
    mayBeDone,
    session: begun,
    memory,
    go(to) {
      if (route() === to) draw('heading')
      else location.hash = to
    },
    redraw: draw,
    announce(text) {
      live.textContent = text
    },
    isAt: (wanted) => route() === wanted,
  }
}

function viewOf(desk: Desk): View {
  const [, hash] = /^#\/documents\/(0x[0-9a-f]{64})$/.exec(route()) ?? []
  if (hash !== undefined) return viewOne(desk, hash)
  const views: Record<string, (desk: Desk) => View> = {
    '#/issue': viewIssue,
    '#/table': viewTable,
    '#/find': viewFind,
    '#/correct': viewCorrect,
    '#/kinds': viewKinds,
    '#/people': viewPeople,
    '#/programs': viewPrograms,
    '#/me': viewMe,
  }
  return (views[route()] ?? viewOverview)(desk)
}

/** @param focus The id of the element that gets the focus. */
function draw(focus?: string): void {
  main.removeAttribute('aria-busy')
  trouble.textContent = ''
  if (session === undefined || invitation !== undefined) {
    const { name } = session?.person ?? {}
    const stay = () => {
      invitation = undefined
      draw('heading')
    }
    header.replaceChildren(...viewHeader())
    document.title = d('title')
    main.replaceChildren(
      h(
        'section',
        { class: 'ask' },
        h('h1', { id: 'heading', tabindex: '-1' }, d('signIn.heading')),
        viewSignIn({
          invitation,
          refused,
          present: name === undefined ? undefined : { name, stay },
          done: begin,
        }),
      ),
    )
  } else {
    const { title, tab = title, content } = viewOf(deskOf(session))
    header.replaceChildren(...viewHeader(session))
    document.title = `${tab} · ${d('title')}`
    const shown = content.filter((node) => node !== false && node !== undefined)
    main.replaceChildren(h('h1', { id: 'heading', tabindex: '-1' }, title), ...shown)
  }
  if (focus !== undefined) document.getElementById(focus)?.focus()
}

function viewHeader(begun?: Session): (Node | string)[] {
  const brand = h('p', { class: 'brand' }, d('title'))
  const languages = viewLanguages(
    () => void loadTexts().then(() => draw('language')),
    DESK_LANGUAGES,
  )
  if (begun === undefined) return [brand, languages]
  const { person, network } = begun
  const warning = viewNetwork(network)
  return [
    ...(warning ? [warning] : []),
    brand,
    h(
      'div',
      { class: 'who' },
      h('a', { href: '#/me' }, quoted(person.name)),
      h('button', { type: 'button', click: signOut }, d('signOut')),
    ),
    languages,
    viewNav(begun),
  ]
}

function viewNav(begun: Session): HTMLElement {
  const mayIssue = may(begun, 'documents:issue')
  const links: [string, string, boolean][] = [
    ['#/', d('nav.overview'), true],
    ['#/issue', d('nav.issue'), mayIssue],
    ['#/table', d('nav.table'), mayIssue],
    ['#/find', d('nav.find'), true],
    ['#/kinds', d('nav.kinds'), may(begun, 'admin')],
    ['#/people', d('nav.people'), may(begun, 'admin')],
    ['#/programs', d('nav.programs'), may(begun, 'admin')],
  ]
  return h(
    'nav',
    { 'aria-label': d('nav.label') },
    ...links.map(
      ([to, label, isShown]) =>
        isShown && h('a', { href: to, 'aria-current': route() === to ? 'page' : undefined }, label),
    ),
  )
}

async function signOut(): Promise<void> {
  try {
    await apiOfPage().client.signOut()
  } catch (error) {
    const isOver = error instanceof CallError && error.status === 401
    if (!isOver) {
      trouble.textContent = wordsOf(error)
      return
    }
  }
  end()
}
