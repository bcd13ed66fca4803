import { h } from './dom.ts'
import { isToCompare } from './doubt.ts'
import { t } from './i18n.ts'
import type { Actions, Done, Phase, State } from './state.ts'
import { viewActions } from './views/actions.ts'
import { viewAsk } from './views/ask.ts'
import { viewChecks } from './views/checks.ts'
import { viewDocument } from './views/document.ts'
import { viewHost } from './views/host.ts'
import { viewLanguages } from './views/languages.ts'
import { viewShare } from './views/share.ts'
import { viewStatement } from './views/statement.ts'
import { viewPrinted, viewTrust } from './views/trust.ts'
import { viewVerdict } from './views/verdict.ts'
import { viewWallet } from './views/wallet.ts'
import { headlineOf, networkWarning, spoken, spokenIdentity } from './words.ts'

/** Draws the page and announces changes to screen readers. */
export type Screen = {
  /** Redraws everything. */
  draw(): void
  /** Redraws the parts that change while the reader waits. */
  drawWaiting(phase: Extract<Phase, { at: 'checking' }>): void
  /** Announces a text to screen readers. */
  announce(text: string): void
  announceOutcome(): void
  /** Redraws what depends on the issuer's domain, and announces its answer. */
  drawIdentity(phase: Done): void
  /** Redraws the document in the issuer's words. */
  drawDocument(phase: Done): void
  focusVerdict(): void
}

/** @param actions Available once the page is assembled. */
export function createScreen(state: State, actions: () => Actions): Screen {
  // Both are already in the HTML, so that something is visible before this script loads.
  const header = document.querySelector('header') ?? h('header')
  const main = document.querySelector('main') ?? h('main')
  /** Screen readers announce its changes, so it must survive redraws. */
  const live = announcer()
  /** A later announcement must not interrupt the verdict. */
  const later = announcer()
  document.body.append(header, live, later, main)

  function draw(): void {
    document.title = titleOf(state)
    header.replaceChildren(...viewHeader(draw))
    main.replaceChildren(...viewMain(state, actions()))
  }

  return {
    draw,
    drawWaiting({ checks, slow }) {
      const place = document.querySelector('.checks')
      place?.replaceWith(viewChecks(checks, { isRunning: true }))
      if (slow) document.querySelector('.verdict')?.replaceWith(viewVerdict(state, actions()))
    },
    announce(text) {
      live.textContent = text
      later.textContent = ''
    },
    announceOutcome() {
      const { phase, sources } = state
      const to = main.querySelector('.parties .to')?.textContent ?? ''
      live.textContent = phase.at === 'done' ? `${spoken(phase, sources)} ${to}`.trim() : ''
    },
    drawIdentity(phase) {
      document.title = titleOf(state)
      const isFocused = document.activeElement?.id === 'verdict'
      document.querySelector('.verdict')?.replaceWith(viewVerdict(state, actions()))
      if (isFocused) document.getElementById('verdict')?.focus()
      const checks = document.querySelector('.checks')
      const isOpen = checks?.querySelector('details')?.open ?? false
      checks?.replaceWith(viewChecks(phase.verdict.checks, { isOpen }))
      later.textContent = spokenIdentity(phase)
    },
    drawDocument(phase) {
      const shown = viewDocument(phase, state.kind)
      if (shown) document.querySelector('.document')?.replaceWith(shown)
      const share = document.querySelector('[aria-labelledby=share]')
      const named = viewShare(phase, actions(), state.kind)
      // What somebody is choosing stays as it is.
      if (named && !share?.querySelector('details')?.open) share?.replaceWith(named)
    },
    focusVerdict() {
      document.getElementById('verdict')?.focus()
    },
  }
}

function announcer(): HTMLElement {
  return h('div', { class: 'unseen', role: 'status', 'aria-live': 'polite' })
}

function viewMain(state: State, actions: Actions): Node[] {
  const { phase } = state
  const parts: (Node | false)[] =
    phase.at === 'ask'
      ? [viewAsk(state, actions), viewTrust(state, actions)]
      : [
          viewVerdict(state, actions),
          ...(phase.at === 'done' ? viewRest(phase, state, actions) : []),
          phase.at === 'checking' && viewChecks(phase.checks, { isRunning: true }),
          viewTrust(state, actions),
          viewAsk(state, actions),
        ]
  return parts.filter((part) => part !== false)
}

function viewRest(phase: Done, state: State, actions: Actions): (Node | false)[] {
  const { sources, kind } = state
  const wallet = viewWallet(phase, state)
  const isForWallet = 'isForWallet' in phase.subject
  return [
    isForWallet && wallet,
    viewStatement(phase),
    !isToCompare(phase) && viewDocument(phase, kind),
    viewChecks(phase.verdict.checks),
    viewActions(phase, actions),
    viewShare(phase, actions, kind),
    !isForWallet && wallet,
    viewPrinted(phase, sources.registry),
  ]
}

/** The title has no content of the document, because browsers store titles in the history. */
function titleOf({ phase, sources }: State): string {
  if (phase.at !== 'done') return t('title')
  const warned = networkWarning(sources) !== undefined
  return [...(warned ? [t('network.name')] : []), headlineOf(phase), t('title')].join(' · ')
}

/**
 * Shows the page's name and address, and its languages.
 *
 * @param redraw Redraws the page in the chosen language.
 */
function viewHeader(redraw: () => void): Node[] {
  return [h('p', { class: 'brand' }, t('title')), viewLanguages(redraw), viewOwnHost()]
}

/** A forger's page can look like this one; only the browser's address bar shows the difference. */
function viewOwnHost(): HTMLElement {
  const { host } = location
  return h(
    'div',
    { class: 'own' },
    h('span', { class: 'unseen' }, t('own.label')),
    host === '' ? h('strong', {}, t('own.file')) : viewHost(host),
    h('p', { class: 'hint' }, t(host === '' ? 'own.file.hint' : 'own.hint')),
  )
}
