import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A fenced block of code, and the headings above it, from the page's title down. */
export type Block = {
  language: string
  code: string
  headings: string[]
  /** `docs/verify.md:12`, the line after the opening fence. */
  at: string
}
export type Page = {
  path: string
  /** The text without code blocks and spans. */
  prose: string
  anchors: Set<string>
  blocks: Block[]
}

/** @returns All Markdown pages of the repository. */
export function pages(): Page[] {
  const folders = [
    '',
    'docs',
    'docs/npm',
    'deployments',
    'test/contracts',
    'tools/corpus',
    'test/faults',
    'tools/bench',
    'scripts/release',
  ]
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => readPage(join(folder, name))),
  )
}

export function readPage(path: string): Page {
  const blocks: Block[] = []
  const headings: string[] = []
  const slugs: string[] = []
  const prose: string[] = []
  let open: Block | undefined
  readFileSync(join(root, path), 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const fence = /^```(\S*)/.exec(line)
      if (open && fence) {
        blocks.push(open)
        open = undefined
      } else if (open) {
        open.code += `${line}\n`
      } else if (fence) {
        const [, language = ''] = fence
        open = { language, code: '', headings: [...headings], at: `${path}:${index + 2}` }
      } else {
        const [, marks, title = ''] = /^(#+) (.*)$/.exec(line) ?? []
        if (marks) {
          headings.splice(marks.length - 1, Number.POSITIVE_INFINITY, title)
          slugs.push(slug(title))
        }
        prose.push(line.replace(/`[^`]*`/g, ''))
      }
    })
  if (open) throw new Error(`${open.at}: the block does not end`)
  return { path, prose: prose.join('\n'), anchors: numbered(slugs), blocks }
}

/** @returns The anchor that GitHub makes of a heading. */
function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

/** The second of equal headings has the anchor `…-1`. */
function numbered(slugs: string[]): Set<string> {
  const seen = new Map<string, number>()
  return new Set(
    slugs.map((one) => {
      const times = seen.get(one) ?? 0
      seen.set(one, times + 1)
      return times === 0 ? one : `${one}-${times}`
    }),
  )
}
