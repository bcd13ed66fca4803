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
import type { Actions, Phase, State } from './state.ts'
import { viewActions } from './view-actions.ts'
import { viewAsk } from './view-ask.ts'
import { viewChecks } from './view-checks.ts'
import { viewDocument, viewIssuer } from './view-document.ts'
import { viewHint, viewTrust } from './view-trust.ts'
import { reasonsOf, viewVerdict, wordsOf } from './view-verdict.ts'

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

const header = h('header')
const main = h('main')
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
  checkNow() {
    if (state.phase.at === 'ask') return
    const { bundle: _, trustedBlock: __, ...subject } = state.phase.subject
    start(subject, true)
  },
  trustBlock(trustedBlock) {
    if (state.phase.at !== 'ask')
      start({ ...state.phase.subject, trustedBlock }, true)
  },
  async saveBundle() {
    if (state.phase.at !== 'done') return false
    const { subject, verdict } = state.phase
    const text =
      subject.bundle ?? (await makeBundle(subject.publicId, state.sources))
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
  const checks: Check[] = []
  go({ at: 'checking', subject, checks })
  live.textContent = t('checking')
  const onCheck = (check: Check) => {
    checks.push(check)
    document.querySelector('.checks')?.replaceWith(viewChecks(checks))
  }
  let phase: Phase
  try {
    const verdict = await check(subject, state.sources, { onCheck, signal })
    const saidErased = await isSaidErased(verdict, publicId)
    signal.throwIfAborted()
    phase = { at: 'done', subject, verdict, saidErased }
  } catch (error) {
    if (signal.aborted) return
    if (error instanceof FormatError) {
      go({ at: 'ask' }, problemOf(error))
      return
    }
    // Of the page itself; the reader's document stays out of it.
    console.error(error)
    phase = { at: 'failed', subject }
  }
  go(phase)
  live.textContent = phase.at === 'done' ? spoken(phase.verdict) : ''
  if (asked) document.getElementById('verdict')?.focus()
}

async function isSaidErased(
  { checks }: Verdict,
  publicId: string,
): Promise<boolean> {
  const service = config?.service
  const missing = checks.some(
    ({ check, code }) => check === 'payload' && code === 'missing',
  )
  return (
    missing &&
    service !== undefined &&
    state.sources.ipfs.includes(service) &&
    saysErased(service, publicId)
  )
}

/** What waits until the reader has named a registry. */
let pending: Subject | undefined

function spoken(verdict: Verdict): string {
  const { title, text } = wordsOf(verdict)
  return [`${title}.`, text, ...reasonsOf(verdict)].join(' ')
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
  const verdict = phase.at === 'done' ? phase.verdict : undefined
  // Nothing of the document: titles are kept in histories.
  document.title = verdict
    ? `${t(`${verdict.status}.title`)} · ${t('title')}`
    : t('title')
  header.replaceChildren(
    h('p', { class: 'brand' }, t('title')),
    viewLanguages(),
  )
  const sections = verdict && [
    viewIssuer(verdict),
    viewDocument(verdict),
    phase.at === 'done' && viewActions(phase, actions),
    viewChecks(verdict.checks),
  ]
  const parts: (Node | false)[] =
    phase.at === 'ask'
      ? [viewAsk(state, actions), viewTrust(state, actions)]
      : [
          viewVerdict(state, actions),
          viewHint(state),
          ...(sections ?? []),
          phase.at === 'checking' && viewChecks(phase.checks),
          viewTrust(state, actions),
          viewAsk(state, actions),
        ]
  main.replaceChildren(...parts.filter((part) => part !== false))
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
  addEventListener('beforeprint', () => {
    for (const part of document.querySelectorAll('details:not(.sources)'))
      part.setAttribute('open', '')
  })
}

supplyAesGcm()
useLanguage(preferredLanguage())
document.body.append(header, live, main)
listen()
if (!readAddress()) {
  if (isSubject(history.state)) start(history.state, false)
  else draw()
}
