import { watchCamera } from './camera.ts'
import { keepChoice } from './config.ts'
import { askWallets, canAskWallets, readWanted } from './digital-credentials.ts'
import { h } from './dom.ts'
import { type Excerpt, fileOf } from './excerpt.ts'
import { t } from './i18n.ts'
import {
  InputError,
  type InputProblem,
  isExcerpt,
  parseSubject,
  readFile,
  type Subject,
} from './input.ts'
import { makeBundle } from './readers.ts'
import type { Session } from './session.ts'
import { type Actions, usualSources } from './state.ts'

export function createActions(session: Session): Actions {
  const { state } = session
  /** Reads a subject from the reader's input and checks it, or reports what is wrong with it. */
  async function attempt(get: () => Promise<Subject>): Promise<void> {
    try {
      session.start(await get(), true)
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      tellProblem(error.problem)
      document.getElementById('number')?.focus()
    }
  }

  const wanted = canAskWallets() ? readWanted(location.search) : undefined

  return {
    checkText: (text) => attempt(() => parseSubject(text)),
    checkFile: (file) => attempt(() => readFile(file)),
    askWallets: wanted && (() => attempt(() => askWallets(wanted))),
    retry: () => session.restart(true),
    open: (subject) => session.start(subject, true),
    trustBlock: (trustedBlock) => session.restart(true, { trustedBlock }),
    async saveProof() {
      if (state.phase.at !== 'done') return false
      const { subject, verdict, live } = state.phase
      if (isExcerpt(subject)) {
        save(fileOf(subject.presentation))
        return true
      }
      const text = live ? await makeBundle(subject, state.sources) : subject.bundle
      if (text === undefined) return false
      // The name has only part of the documentHash, which is public, because others may see file
      // names.
      const hash = verdict.blockchainProof?.documentHash.slice(2, 10) ?? 'absence'
      save({ name: `proof-${hash}.json`, text })
      return true
    },
    saveFile: save,
    useSources(sources) {
      keepChoice(sources)
      state.sources = sources ?? usualSources(state.config)
      session.sourcesChanged()
    },
    useCamera: (video) =>
      watchCamera(video, (text) =>
        parseSubject(text).then(
          (subject) => session.start(subject, true),
          () => tellProblem('notOurs'),
        ),
      ),
    tellProblem,
  }
}

/** Shows the problem without redrawing the field that the reader is typing into. */
function tellProblem(problem: InputProblem): void {
  const place = document.getElementById('problem')
  if (place) place.textContent = t(`error.${problem}`)
  document.getElementById('number')?.setAttribute('aria-invalid', 'true')
}

function save({ name, text }: Excerpt['file']): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  h('a', { href: url, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
