/** A literal that is spread, such as `...{ a, b }`: its members could stand there by themselves. */
const SPREAD = /\.\.\.\(?([{[])/g
const CLOSING = { '{': '}', '[': ']' } as const

/** @returns Where literals are spread in a source text, with the members of each. */
export function spreadLiterals(text: string): { from: number; to: number; members: string }[] {
  return [...text.matchAll(SPREAD)].flatMap(({ 0: sign, 1: open, index }) => {
    const from = index + sign.length
    const end = endOf(text, from, open as keyof typeof CLOSING)
    const after = sign.includes('(')
      ? /^(?: as const)?\)(?=\s*[,)\]}])/.exec(text.slice(end))
      : /^(?=\s*[,)\]}])/.exec(text.slice(end))
    if (!after) return []
    return [{ from: index, to: end + after[0].length, members: text.slice(from, end - 1) }]
  })
}

/** @returns Behind the bracket that closes what opened before `from`. */
function endOf(text: string, from: number, open: keyof typeof CLOSING): number {
  let depth = 1
  let place = from
  for (; depth > 0 && place < text.length; place++) {
    if (text[place] === open) depth++
    if (text[place] === CLOSING[open]) depth--
  }
  return place
}
