/** A cursor holds a place in the index; what it looks like may change. */
const CURSOR = /^p[0-9a-z]{1,11}$/

/** @returns The cursor that goes on below a place. */
export function formatCursor(place: number): string {
  return `p${place.toString(36)}`
}

/** @returns Whether a text is a cursor. */
export function isCursor(text: string): boolean {
  return CURSOR.test(text) && Number.isSafeInteger(parseCursor(text))
}

/** @param text A cursor. @returns Its place. */
export function parseCursor(text: string): number {
  return Number.parseInt(text.slice(1), 36)
}
