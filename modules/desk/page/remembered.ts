import type { Session } from '#client/index.ts'
import { plain } from '#table/words.ts'
import type { NamedRow } from './named.ts'

/**
 * The names of documents that were issued at this desk. They stay in this browser, also after signing
 * out, if the person has asked for it, and are deleted when the person switches that off. Each
 * person has names of their own.
 */
const PREFIX = 'document-registry.desk.names.'
/** Some 2 MB at most; browsers keep 5 MB for a site. */
const MAX_NAMES = 10_000

/** What is kept of a document. */
export type Name = { subjectName: string; subjectId: string; documentHash: string }

/** The newest first. Its presence says that names are kept. */
type Kept = [name: string, subjectId: string, documentHash: string][]

const keyOf = ({ person }: Session) => PREFIX + person.id

function read(session: Session): Kept | undefined {
  try {
    const text = localStorage.getItem(keyOf(session))
    if (text === null) return undefined
    const found: unknown = JSON.parse(text)
    return Array.isArray(found) ? found : []
  } catch {
    return undefined
  }
}

/** Fewer names when the browser has no room for all. @returns Whether it could keep any. */
function write(session: Session, names: Kept): boolean {
  for (let count = Math.min(names.length, MAX_NAMES); ; count = Math.floor(count / 2))
    try {
      localStorage.setItem(keyOf(session), JSON.stringify(names.slice(0, count)))
      return true
    } catch {
      if (count === 0) return false
    }
}

export function isRemembering(session: Session): boolean {
  return read(session) !== undefined
}

/** @returns Whether this browser can keep names. */
export function beginRemembering(session: Session): boolean {
  return isRemembering(session) || write(session, [])
}

/** Deletes the names of this person. */
export function endRemembering(session: Session): void {
  try {
    localStorage.removeItem(keyOf(session))
  } catch {
    // The browser has no storage.
  }
}

/** Adds names, if the person has asked for it. */
export function remember(session: Session, names: readonly Name[]): void {
  const kept = read(session)
  if (kept === undefined || names.length === 0) return
  const hashes = new Set(names.map(({ documentHash }) => documentHash))
  const added = names.map((one): Kept[number] => [one.subjectName, one.subjectId, one.documentHash])
  write(session, [...added, ...kept.filter(([, , hash]) => !hashes.has(hash))])
}

/** Deletes the name of a document whose content is erased. */
export function forgetName(session: Session, documentHash: string): void {
  const kept = read(session)
  if (kept?.some(([, , hash]) => hash === documentHash))
    write(
      session,
      kept.filter(([, , hash]) => hash !== documentHash),
    )
}

/** @returns The names that are kept, the newest first. */
export function remembered(session: Session): NamedRow[] {
  return (read(session) ?? []).map(([name, subjectId, documentHash]) => ({
    name,
    subjectId,
    documentHash,
    plainName: plain(name),
  }))
}
