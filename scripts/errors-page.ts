import { ABOUT_ERRORS, type ApiErrorEntry, ERROR_GROUPS } from '#http/core/error-table.ts'

const WIDTH = 100

/** @returns docs/errors.md. */
export function errorsPage(): string {
  const blocks = [
    '# Error codes',
    '<!-- Made by `npm run generate` from gateway/http/core/error-table.ts. Do not edit. -->',
    ...ABOUT_ERRORS.map(wrap),
    ...ERROR_GROUPS.flatMap(({ title, errors }) => [
      `## ${title}`,
      ...Object.entries(errors).flatMap(([code, error]) => sectionOf(code, error)),
    ]),
  ]
  return `${blocks.join('\n\n')}\n`
}

function sectionOf(code: string, error: ApiErrorEntry): string[] {
  const { status, meaning, action } = error
  return [`### \`${code}\``, wrap(`**${status}.** ${meaning} ${action}`)]
}

/** Breaks lines between words, and no link or code. */
function wrap(text: string): string {
  const words = text.match(/(?:\[[^\]]+\]\([^)]+\)|`[^`]+`|\S)+/g) ?? []
  const lines = ['']
  for (const word of words) {
    const line = lines.at(-1)
    if (line === '') lines[lines.length - 1] = word
    else if (`${line} ${word}`.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines.join('\n')
}
