import { type Check, FormatError } from '#verifier/index.ts'
import { check } from './check.ts'
import { keyOf, type PageVerdict } from './findings.ts'
import { t } from './i18n.ts'
import { askIdentity, domainToAsk, mayAsk } from './identity.ts'
import {
  fromHistory,
  InputError,
  type InputProblem,
  parseSubject,
  problemOf,
  proofBlockOf,
  type Subject,
  toHistory,
} from './input.ts'
import { askKind } from './kinds.ts'
import { saysErased } from './readers.ts'
import type { Screen } from './screen.ts'
import type { Done, Phase, Problem, State } from './state.ts'
import { waitingFor } from './words.ts'

/** How long to wait before the page says what it is waiting for, in milliseconds. */
const SLOW_MS = 4_000

/** Runs checks, from the reader's input to the verdict. */
export type Session = {
  readonly state: State
  /**
   * Starts a check, and ends the running one.
   *
   * @param requested Whether the reader has just requested it; the outcome then gets the focus.
   */
  start(subject: Subject, requested: boolean): void
  /** Checks the shown document again, if there is one. */
  restart(requested: boolean, more?: Pick<Subject, 'trustedBlock'>): void
  /** Checks the subject in the address or the history, or reports what is wrong with it. */
  attempt(reading: Promise<Subject>): Promise<void>
  /** Shows the input form. */
  ask(): void
  /** Redraws after a change of the sources, and repeats the shown check. */
  sourcesChanged(): void
}

type Checking = Extract<Phase, { at: 'checking' }>
/** The result of a check, or the problem with an input without a publicId. */
type Outcome = Done | Extract<Phase, { at: 'failed' }> | InputProblem

export function createSession(state: State, screen: Screen): Session {
  /** Ends the check that is running. */
  let running = new AbortController()
  /** The subject that waits until the reader has chosen a registry. */
  let pending: Subject | undefined

  function go(phase: Phase, problem?: Problem): void {
    state.phase = phase
    if (problem === undefined) delete state.problem
    else state.problem = problem
    screen.draw()
  }

  /** Aborts the running check. @returns The signal for the next one. */
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
    const phase: Checking = { at: 'checking', subject, checks: [], slow: false }
    delete state.kind
    go(phase)
    const outcome = await watchCheck(phase, state, screen, signal)
    if (signal.aborted) return
    if (typeof outcome === 'string') {
      go({ at: 'ask' }, outcome)
      return
    }
    go(outcome)
    screen.announceOutcome()
    if (requested) screen.focusVerdict()
    if (outcome.at !== 'done') return
    if (outcome.asking !== undefined) fillIn(outcome, state, screen, signal)
    nameFields(outcome, state, screen, signal)
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
        // Otherwise the old verdict would seem to belong to the unreadable input.
        next()
        keepInHistory(null)
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

/** Checks, and shows the progress. @returns The next phase to show. */
async function watchCheck(
  phase: Checking,
  state: State,
  screen: Screen,
  signal: AbortSignal,
): Promise<Outcome> {
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
  const outcome = await findOut(phase.subject, state, { onCheck, signal })
  clearTimeout(slow)
  return outcome
}

/** Adds the answer of the issuer's domain, which never delays a verdict. */
async function fillIn(
  { asking: _, ...phase }: Done,
  state: State,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const verdict = await askIdentity(phase.verdict, signal)
  if (signal.aborted) return
  const answered = { ...phase, verdict }
  state.phase = answered
  screen.drawIdentity(answered)
}

/** Adds what the issuer calls the fields, which never delays a verdict. */
async function nameFields(
  { verdict }: Done,
  state: State,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
  const kind = await askKind(verdict, state, signal)
  if (signal.aborted || kind === undefined || state.phase.at !== 'done') return
  state.kind = kind
  screen.drawDocument(state.phase)
}

/**
 * Stores the subject in the history entry, so that a reload shows it again, and removes it from the
 * address, where others could see it.
 */
function keepInHistory(subject: Subject | null): void {
  const { pathname, search } = location
  history.replaceState(
    subject && toHistory(subject),
    '',
    pathname + (isNamed(search) ? '' : search),
  )
}

/** @returns The subject in the address; `undefined` if there is none. */
export function readAddress(): Promise<Subject> | undefined {
  const { search, hash } = location
  // Some programs turn the `#` into a `?`.
  const named = [hash, search].filter(isNamed).join(' ')
  return named === '' ? undefined : parseSubject(named)
}

/** @returns Whether a part of the address seems to name a document or an excerpt, whole or not. */
const isNamed = (part: string) => /publicId|presentation[=%]|^#\w{40}/.test(part)

/** @returns The subject in the history entry; `undefined` if there is none. */
export function readHistory(): Promise<Subject> | undefined {
  return fromHistory(history.state)
}

function lacksSources({ sources }: State, subject: Subject): boolean {
  const { registry, rpc } = sources
  return registry === '' || (rpc.length === 0 && !proofBlockOf(subject))
}

async function findOut(
  subject: Subject,
  state: State,
  watch: { onCheck: (check: Check) => void; signal: AbortSignal },
): Promise<Outcome> {
  try {
    const findings = await check(subject, state.sources, watch)
    const saidErased = await isSaidErased(findings.verdict, state)
    const newer = newerOf(subject, findings.verdict, state)
    const done = {
      subject,
      ...findings,
      saidErased,
      checkedAt: Date.now(),
      ...(newer && { newer }),
    }
    // The domain has answered about a credential already.
    if (!mayAsk(state.sources) || 'credential' in subject) return { at: 'done', ...done }
    const asking = domainToAsk(findings.verdict)
    if (asking !== undefined) return { at: 'done', ...done, asking }
    const verdict = await askIdentity(findings.verdict, watch.signal)
    return { at: 'done', ...done, verdict }
  } catch (error) {
    if (error instanceof FormatError) return problemOf(error)
    // This is an error of the page itself. The log must not contain the document.
    if (!watch.signal.aborted) console.error(error)
    return { at: 'failed', subject }
  }
}

/**
 * Remembers which document a valid document replaces, as long as the page is open, because the
 * registry does not say by what a document was replaced.
 *
 * @returns The document that replaces this one, if the reader has opened it.
 */
function newerOf(
  subject: Subject,
  { valid, status, fields, blockchainProof: proof }: PageVerdict,
  { newer }: State,
): Subject | undefined {
  if (proof === null) return undefined
  if (valid && fields?.supersedes) newer.set(keyOf(proof, fields.supersedes), subject)
  return status === 'superseded' ? newer.get(keyOf(proof, proof.documentHash)) : undefined
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
