import { type Check, FormatError, type Verdict } from '../verifier/index.ts'
import { watchCamera } from './camera.ts'
import { check, makeBundle, saysErased } from './check.ts'
import { keepChoice, keptChoice, parseConfig, type Sources } from './config.ts'
import { h } from './dom.ts'
import {
  currentLanguage,
  isLanguage,
  LANGUAGES,
  preferredLanguage,
  t,
  useLanguage,
} from './i18n.ts'
import {
  InputError,
  type InputProblem,
  parseBundle,
  parseFragment,
  parseSubject,
  problemOf,
  type Subject,
  textOfFile,
} from './input.ts'
import { supplyAesGcm } from './insecure-crypto.ts'
import { readQr } from './qr.ts'
import type { Actions, Done, Phase, State } from './state.ts'
import { viewActions } from './view-actions.ts'
import { viewAsk } from './view-ask.ts'
import { viewChecks } from './view-checks.ts'
import { viewDocument } from './view-document.ts'
import { viewPrinted } from './view-print.ts'
import { viewHint, viewTrust } from './view-trust.ts'
import { viewStatement, viewVerdict } from './view-verdict.ts'
import {
  agoOf,
  datingNotice,
  headlineOf,
  linesOf,
  networkWarning,
  waitingFor,
} from './words.ts'

const config = parseConfig(
  document.getElementById('config')?.textContent ?? null,
)
const NO_SOURCES: Sources = { registry: '', rpc: [], ipfs: [] }
const state: State = {
  phase: { at: 'ask' },
  config,
  sources: { ...NO_SOURCES, ...config, ...keptChoice() },
}

/** Bytes of the largest proof file that is read. */
const MAX_FILE = 8 * 1024 * 1024
/** Milliseconds of waiting after which the page says for what. */
const SLOW_MS = 4_000
/** Milliseconds that a verdict may be shown before it is checked again. */
const MAX_SHOWN_MS = 10 * 60_000
/** Milliseconds between two looks at the age of what is shown. */
const AGE_INTERVAL_MS = 15_000

// Both are in the page already, so that there is something to see before this script has come.
const header = document.querySelector('header') ?? h('header')
const main = document.querySelector('main') ?? h('main')
/** Read out when it changes; it must outlive what it is about. */
const live = h('div', {
  class: 'unseen',
  role: 'status',
  'aria-live': 'polite',
})

/** Ends the check that is running. */
let stopChecking = new AbortController()
/** Ends the camera when the page goes on. */
let stopCamera = () => {}

const actions: Actions = {
  checkText: (text) => attempt(() => parseSubject(text)),
  checkFile: (file) => attempt(() => readFile(file)),
  retry() {
    if (state.phase.at !== 'ask') start(state.phase.subject, true)
  },
  trustBlock(trustedBlock) {
    if (state.phase.at !== 'ask')
      start({ ...state.phase.subject, trustedBlock }, true)
  },
  async saveBundle() {
    if (state.phase.at !== 'done') return false
    const { subject, verdict, live } = state.phase
    const text = live
      ? await makeBundle(subject, state.sources)
      : subject.bundle
    if (text === undefined) return false
    // Part of the hash, which is public: names of files are seen.
    const hash = verdict.blockchainProof?.documentHash.slice(2, 10) ?? 'absence'
    save(`proof-${hash}.json`, text)
    return true
  },
  useSources(sources) {
    keepChoice(sources)
    state.sources = sources ?? { ...NO_SOURCES, ...config }
    if (state.phase.at === 'ask') go(state.phase)
    else start(state.phase.subject, true)
  },
  async useCamera(video) {
    const stop = await watchCamera(video, (text) => {
      try {
        const subject = parseSubject(text)
        stopCamera()
        start(subject, true)
      } catch {
        tellProblem('notOurs')
      }
    })
    stopCamera = () => {
      stopCamera = () => {}
      stop()
    }
    return stopCamera
  },
  tellProblem,
}

/** Gets a subject from what the reader gave, and checks it; or says what is wrong with it. */
async function attempt(get: () => Subject | Promise<Subject>): Promise<void> {
  try {
    start(await get(), true)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    tellProblem(error.problem)
    document.getElementById('number')?.focus()
  }
}

/** Beside the field, without drawing anew what the reader is typing into. */
function tellProblem(problem: InputProblem): void {
  const place = document.getElementById('problem')
  if (place) place.textContent = t(`error.${problem}`)
  document.getElementById('number')?.setAttribute('aria-invalid', 'true')
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(
    new Blob([text], { type: 'application/json' }),
  )
  h('a', { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

async function readFile(file: File): Promise<Subject> {
  if (!file.type.startsWith('image/')) {
    if (file.size > MAX_FILE) throw new InputError('file')
    return parseBundle(textOfFile(new Uint8Array(await file.arrayBuffer())))
  }
  const image = await createImageBitmap(file).catch(() => {
    throw new InputError('file')
  })
  const text = await readQr(image)
  if (text === undefined) throw new InputError('noQr')
  try {
    return parseSubject(text)
  } catch {
    throw new InputError('notOurs')
  }
}

/** @param asked Whether the reader asked for it just now: then what comes of it gets the focus. */
async function start(subject: Subject, asked: boolean): Promise<void> {
  stopCamera()
  stopChecking.abort()
  stopChecking = new AbortController()
  const { signal } = stopChecking
  // Kept with this entry of the history, so that a reload shows it again; not in the address, where it would be seen and kept.
  const { publicId, hint, bundle } = subject
  history.replaceState(
    { publicId, ...(hint !== undefined && { hint }) },
    '',
    location.pathname + location.search,
  )
  const { registry, rpc } = state.sources
  if (registry === '' || (rpc.length === 0 && bundle === undefined)) {
    go({ at: 'ask' }, 'sources')
    pending = subject
    return
  }
  const phase = {
    at: 'checking' as const,
    subject,
    checks: [] as Check[],
    slow: false,
  }
  go(phase)
  live.textContent = t('checking')
  const slow = setTimeout(() => {
    phase.slow = true
    drawWaiting(phase)
    live.textContent = waitingFor(phase, state.sources)
  }, SLOW_MS)
  signal.addEventListener('abort', () => clearTimeout(slow))
  const onCheck = (check: Check) => {
    phase.checks.push(check)
    drawWaiting(phase)
  }
  const outcome = await findOut(subject, { onCheck, signal })
  clearTimeout(slow)
  if (signal.aborted) return
  if (typeof outcome === 'string') {
    go({ at: 'ask' }, outcome)
    return
  }
  go(outcome)
  live.textContent = outcome.at === 'done' ? spoken(outcome) : ''
  if (asked) document.getElementById('verdict')?.focus()
}

/** @returns What to show; the problem of what holds no publicId. */
async function findOut(
  subject: Subject,
  watch: { onCheck: (check: Check) => void; signal: AbortSignal },
): Promise<Done | Extract<Phase, { at: 'failed' }> | InputProblem> {
  try {
    const findings = await check(subject, state.sources, watch)
    const saidErased = await isSaidErased(findings.verdict)
    return {
      at: 'done',
      subject,
      ...findings,
      saidErased,
      checkedAt: Date.now(),
    }
  } catch (error) {
    if (error instanceof FormatError) return problemOf(error)
    // Of the page itself; the reader's document stays out of it.
    if (!watch.signal.aborted) console.error(error)
    return { at: 'failed', subject }
  }
}

/** The parts that change while the reader waits. */
function drawWaiting(phase: Extract<Phase, { at: 'checking' }>): void {
  const checks = viewChecks(phase.checks, true)
  document.querySelector('.checks')?.replaceWith(checks)
  if (phase.slow)
    document.querySelector('.verdict')?.replaceWith(viewVerdict(state, actions))
}

async function isSaidErased({
  checks,
  blockchainProof,
}: Verdict): Promise<boolean> {
  const service = config?.service
  const missing = checks.some(
    ({ check, code }) => check === 'payload' && code === 'missing',
  )
  return (
    missing &&
    blockchainProof !== null &&
    service !== undefined &&
    state.sources.ipfs.includes(service) &&
    saysErased(service, blockchainProof.documentHash)
  )
}

/** What waits until the reader has named a registry. */
let pending: Subject | undefined

function spoken(phase: Done): string {
  const warning = networkWarning(state.sources)
  const dating = datingNotice(phase.verdict)
  return [
    ...(warning === undefined ? [] : [`${warning}.`]),
    `${headlineOf(phase)}.`,
    ...(dating === undefined ? [] : [dating]),
    ...linesOf(phase),
  ].join(' ')
}

function go(phase: Phase, problem?: State['problem']): void {
  state.phase = phase
  if (problem === undefined) delete state.problem
  else state.problem = problem
  if (phase.at === 'ask' && pending && problem === undefined) {
    const subject = pending
    pending = undefined
    if (state.sources.registry !== '') {
      start(subject, true)
      return
    }
  }
  draw()
}

function draw(): void {
  const { phase } = state
  document.title = titleOf(phase)
  header.replaceChildren(
    h('p', { class: 'brand' }, t('title')),
    viewLanguages(),
  )
  const parts: (Node | false)[] =
    phase.at === 'ask'
      ? [viewAsk(state, actions), viewTrust(state, actions)]
      : [
          viewVerdict(state, actions),
          viewHint(state),
          ...(phase.at === 'done' ? viewRest(phase) : []),
          phase.at === 'checking' && viewChecks(phase.checks, true),
          viewTrust(state, actions),
          viewAsk(state, actions),
        ]
  main.replaceChildren(...parts.filter((part) => part !== false))
}

function viewRest(phase: Done): (Node | false)[] {
  return [
    viewStatement(phase),
    viewDocument(phase.verdict),
    viewChecks(phase.verdict.checks),
    viewActions(phase, actions),
    viewPrinted(phase, state.sources.registry),
  ]
}

/** Nothing of the document: titles are kept in histories. */
function titleOf(phase: Phase): string {
  if (phase.at !== 'done') return t('title')
  const warned = networkWarning(state.sources) !== undefined
  return [
    ...(warned ? [t('network.name')] : []),
    headlineOf(phase),
    t('title'),
  ].join(' · ')
}

function viewLanguages(): HTMLElement {
  const select = h(
    'select',
    {
      id: 'language',
      'aria-label': t('language'),
      change: () => {
        if (!isLanguage(select.value)) return
        useLanguage(select.value, true)
        draw()
        document.getElementById('language')?.focus()
      },
    },
    ...Object.entries(LANGUAGES).map(([tag, { name }]) =>
      h(
        'option',
        { value: tag, lang: tag, selected: tag === currentLanguage() },
        name,
      ),
    ),
  )
  return select
}

/** Checks what the address names. @returns Whether it names something. */
function readAddress(): boolean {
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
}

function isSubject(value: unknown): value is Subject {
  return typeof (value as Subject | null)?.publicId === 'string'
}

function listen(): void {
  addEventListener('hashchange', readAddress)
  addEventListener('popstate', ({ state: kept }) => {
    if (isSubject(kept)) start(kept, false)
  })
  const over = (on: boolean) => document.body.classList.toggle('over', on)
  addEventListener('dragover', (event) => {
    event.preventDefault()
    over(true)
  })
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) over(false)
  })
  addEventListener('drop', (event) => {
    event.preventDefault()
    over(false)
    const [file] = event.dataTransfer?.files ?? []
    if (file) actions.checkFile(file)
  })
  addEventListener('paste', (event) => {
    const [file] = event.clipboardData?.files ?? []
    if (file) actions.checkFile(file)
  })
  // A verdict that nobody looked at for a while, or that a browser brings back from its memory, may be wrong by now.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) checkAgain()
  })
  document.addEventListener('visibilitychange', watchAge)
  setInterval(watchAge, AGE_INTERVAL_MS)
  addEventListener('online', () => {
    const { phase } = state
    const lacking =
      phase.at === 'done' && phase.verdict.status === 'unverifiable'
    if (lacking || (phase.at === 'done' && !phase.live)) checkAgain()
  })
}

/** Says how old the verdict is; one that is too old is checked again, a little later under the reader's hands. */
function watchAge(): void {
  const { phase } = state
  if (phase.at !== 'done' || document.hidden) return
  const place = document.getElementById('checked')
  if (place) place.textContent = agoOf(phase.checkedAt)
  const busy = document.activeElement?.matches('input, textarea, select')
  const limit = busy ? 2 * MAX_SHOWN_MS : MAX_SHOWN_MS
  if (Date.now() - phase.checkedAt > limit) checkAgain()
}

function checkAgain(): void {
  if (state.phase.at !== 'ask') start(state.phase.subject, false)
}

supplyAesGcm()
useLanguage(preferredLanguage())
document.body.append(header, live, main)
listen()
if (!readAddress()) {
  if (isSubject(history.state)) start(history.state, false)
  else draw()
}
