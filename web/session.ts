import { type Check, FormatError, type Verdict } from '../verifier/index.ts'
import { check, saysErased } from './check.ts'
import { t } from './i18n.ts'
import {
  InputError,
  type InputProblem,
  parseFragment,
  parseSubject,
  problemOf,
  type Subject,
} from './input.ts'
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
  restart(requested: boolean, more?: Partial<Subject>): void
  /** Checks what the address names. @returns Whether it names something. */
  readAddress(): boolean
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

  async function start(subject: Subject, requested: boolean): Promise<void> {
    running.abort()
    running = new AbortController()
    const { signal } = running
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
    readAddress() {
      const fragment = location.hash.slice(1)
      if (fragment === '' || parseFragment(fragment) === undefined) return false
      try {
        start(parseSubject(`#${fragment}`), false)
      } catch (error) {
        if (!(error instanceof InputError)) throw error
        history.replaceState(null, '', location.pathname + location.search)
        go({ at: 'ask' }, error.problem)
      }
      return true
    },
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
function keepInHistory({ publicId, hint }: Subject): void {
  history.replaceState(
    { publicId, ...(hint !== undefined && { hint }) },
    '',
    location.pathname + location.search,
  )
}

/** Starts with what this entry of the history keeps. @returns Whether it keeps something. */
export function readState(session: Session): boolean {
  const kept: unknown = history.state
  if (!isSubject(kept)) return false
  session.start(kept, false)
  return true
}

function isSubject(value: unknown): value is Subject {
  return typeof (value as Subject | null)?.publicId === 'string'
}

function lacksSources({ sources }: State, { bundle }: Subject): boolean {
  const { registry, rpc } = sources
  return registry === '' || (rpc.length === 0 && bundle === undefined)
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
    const checkedAt = Date.now()
    return { at: 'done', subject, ...findings, saidErased, checkedAt }
  } catch (error) {
    if (error instanceof FormatError) return problemOf(error)
    // Of the page itself; the reader's document stays out of it.
    if (!watch.signal.aborted) console.error(error)
    return { at: 'failed', subject }
  }
}

async function isSaidErased(
  { checks, blockchainProof }: Verdict,
  { config, sources }: State,
): Promise<boolean> {
  const service = config?.service
  const missing = checks.some(
    ({ check, code }) => check === 'payload' && code === 'missing',
  )
  return (
    missing &&
    blockchainProof !== null &&
    service !== undefined &&
    sources.ipfs.includes(service) &&
    saysErased(service, blockchainProof.documentHash)
  )
}
