import { readAddress, readHistory, type Session } from './session.ts'
import type { Actions } from './state.ts'
import { agoOf } from './words.ts'

/** Milliseconds after which a shown verdict is checked again. */
const MAX_SHOWN_MS = 10 * 60_000
/** Milliseconds between two checks of the age of the shown verdict. */
const AGE_INTERVAL_MS = 15_000

/** Registers the page's global event listeners. */
export function listen(session: Session, actions: Actions): void {
  const attempt = (reading = readAddress()) => {
    if (reading) session.attempt(reading)
  }
  addEventListener('hashchange', () => attempt())
  addEventListener('popstate', () => {
    if (location.hash === '') attempt(readHistory())
  })
  listenForFiles(actions)
  keepFresh(session)
}

/** Accepts files that are dropped or pasted anywhere. */
function listenForFiles(actions: Actions): void {
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
}

/**
 * Checks again after some time in the background, or when the browser restores the page from its
 * cache, because the verdict may be outdated.
 */
function keepFresh(session: Session): void {
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) session.restart(false)
  })
  const watch = () => watchAge(session)
  document.addEventListener('visibilitychange', watch)
  setInterval(watch, AGE_INTERVAL_MS)
  addEventListener('online', () => {
    const { phase } = session.state
    if (phase.at !== 'done') return
    const lacking = phase.verdict.status === 'unverifiable' || !phase.live
    if (lacking) session.restart(false)
  })
}

/**
 * Updates the age of the verdict, and checks an old one again; later if the reader is using the
 * page.
 */
function watchAge(session: Session): void {
  const { phase } = session.state
  if (phase.at !== 'done' || document.hidden) return
  const place = document.getElementById('checked')
  if (place) place.textContent = agoOf(phase.checkedAt)
  const busy = document.activeElement?.matches('input, textarea, select')
  const limit = busy ? 2 * MAX_SHOWN_MS : MAX_SHOWN_MS
  if (Date.now() - phase.checkedAt > limit) session.restart(false)
}
