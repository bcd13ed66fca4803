import { isPresentationLink } from '../document/presentation-link.ts'
import { type Check, FormatError } from '../verifier/index.ts'
import { check } from './check.ts'
import type { PageVerdict } from './findings.ts'
import { t } from './i18n.ts'
import { askIdentity, domainToAsk, mayAsk } from './identity.ts'
import {
  fromHistory,
  InputError,
  type InputProblem,
  parseFragment,
  parseSubject,
  problemOf,
  proofBlockOf,
  type Subject,
  toHistory,
} from './input.ts'
import { saysErased } from './readers.ts'
import type { Screen } from './screen.ts'
import type { Done, Phase, Problem, State } from './state.ts'
import { waitingFor } from './words.ts'

/** Milliseconds of waiting after which the page says for what. */
const SLOW_MS = 4_000

/** What the page does from what the reader gives to the verdict that it shows. */
export type Session = {
  readonly state: State
  /**
   * Checks something, and ends the check that is running.
   *
   * @param requested Whether the reader requested it just now: then the outcome gets the focus.
   */
  start(subject: Subject, requested: boolean): void
  /** Checks again what is shown, if a document is. */
  restart(requested: boolean, more?: Pick<Subject, 'trustedBlock'>): void
  /** Checks what is read from the address or the history; says what is wrong with it. */
  attempt(reading: Promise<Subject>): Promise<void>
  /** Asks the reader what to check. */
  ask(): void
  /** Draws again after a change of the sources, and checks again where something is shown. */
  sourcesChanged(): void
}

export function createSession(state: State, screen: Screen): Session {
  /** Ends the check that is running. */
  let running = new AbortController()
  /** What waits until the reader has named a registry. */
  let pending: Subject | undefined

  function go(phase: Phase, problem?: Problem): void {
    state.phase = phase
    if (problem === undefined) delete state.problem
    else state.problem = problem
    screen.draw()
  }

  /** Ends what is running. @returns The signal that ends what comes next. */
  function next(): AbortSignal {
    running.abort()
    running = new AbortController()
    return running.signal
  }

  async function start(subject: Subject, requested: boolean): Promise<void> {
    const signal = next()
    keepInHistory(subject)
    if (lacksSources(state, subject)) {
      pending = subject
      go({ at: 'ask' }, 'sources')
      return
    }
    pending = undefined
    const outcome = await watchCheck(subject, signal)
    if (signal.aborted) return
    if (typeof outcome === 'string') {
      go({ at: 'ask' }, outcome)
      return
    }
    go(outcome)
    screen.announceOutcome()
    if (requested) screen.focusVerdict()
    if (outcome.at === 'done' && outcome.asking !== undefined) fillIn(outcome, signal)
  }

  /** Adds what the issuer's domain says, which never delays a verdict. */
  async function fillIn({ asking: _, ...phase }: Done, signal: AbortSignal): Promise<void> {
    const verdict = await askIdentity(phase.verdict, signal)
    if (signal.aborted) return
    const answered = { ...phase, verdict }
    state.phase = answered
    screen.drawIdentity(answered)
  }

  /** Checks, and shows how far that is. @returns What to show then. */
  async function watchCheck(subject: Subject, signal: AbortSignal) {
    const checks: Check[] = []
    const phase = { at: 'checking' as const, subject, checks, slow: false }
    go(phase)
    screen.announce(t('checking'))
    const slow = setTimeout(() => {
      phase.slow = true
      screen.drawWaiting(phase)
      screen.announce(waitingFor(phase, state.sources))
    }, SLOW_MS)
    signal.addEventListener('abort', () => clearTimeout(slow))
    const onCheck = (check: Check) => {
      phase.checks.push(check)
      screen.drawWaiting(phase)
    }
    const outcome = await findOut(subject, state, { onCheck, signal })
    clearTimeout(slow)
    return outcome
  }

  return {
    state,
    start,
    restart(requested, more = {}) {
      const { phase } = state
      if (phase.at !== 'ask') start({ ...phase.subject, ...more }, requested)
    },
    async attempt(reading) {
      try {
        start(await reading, false)
      } catch (error) {
        if (!(error instanceof InputError)) throw error
        // Else its verdict would seem to be of what could not be read.
        next()
        history.replaceState(null, '', location.pathname + location.search)
        go({ at: 'ask' }, error.problem)
      }
    },
    ask: () => go({ at: 'ask' }),
    sourcesChanged() {
      const { phase } = state
      if (phase.at !== 'ask') start(phase.subject, true)
      else if (pending && state.sources.registry !== '') start(pending, true)
      else go(phase)
    },
  }
}

/**
 * Keeps it with this entry of the history, so that a reload shows it again; and takes it out of the
 * address, where it would be seen and kept.
 */
function keepInHistory(subject: Subject): void {
  history.replaceState(toHistory(subject), '', location.pathname + location.search)
}

/** @returns What the address names; `undefined` for nothing. */
export function readAddress(): Promise<Subject> | undefined {
  const { hash } = location
  const isNamed = isPresentationLink(hash) || parseFragment(hash.slice(1))
  return isNamed ? parseSubject(hash) : undefined
}

/** @returns What this entry of the history keeps; `undefined` for nothing. */
export function readHistory(): Promise<Subject> | undefined {
  return fromHistory(history.state)
}

function lacksSources({ sources }: State, subject: Subject): boolean {
  const { registry, rpc } = sources
  return registry === '' || (rpc.length === 0 && !proofBlockOf(subject))
}

/** @returns What to show; the problem of what holds no publicId. */
async function findOut(
  subject: Subject,
  state: State,
  watch: { onCheck: (check: Check) => void; signal: AbortSignal },
): Promise<Done | Extract<Phase, { at: 'failed' }> | InputProblem> {
  try {
    const findings = await check(subject, state.sources, watch)
    const saidErased = await isSaidErased(findings.verdict, state)
    const done = { subject, ...findings, saidErased, checkedAt: Date.now() }
    if (!mayAsk(state.sources)) return { at: 'done', ...done }
    const asking = domainToAsk(findings.verdict)
    if (asking !== undefined) return { at: 'done', ...done, asking }
    const verdict = await askIdentity(findings.verdict, watch.signal)
    return { at: 'done', ...done, verdict }
  } catch (error) {
    if (error instanceof FormatError) return problemOf(error)
    // Of the page itself; the reader's document stays out of it.
    if (!watch.signal.aborted) console.error(error)
    return { at: 'failed', subject }
  }
}

async function isSaidErased(
  { checks, blockchainProof }: PageVerdict,
  { config, sources }: State,
): Promise<boolean> {
  const service = config?.service
  const missing = checks.some(({ check, code }) => check === 'payload' && code === 'missing')
  return (
    missing &&
    blockchainProof !== null &&
    service !== undefined &&
    sources.ipfs.includes(service) &&
    saysErased(service, blockchainProof.documentHash)
  )
}
