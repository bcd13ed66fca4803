import { readFileSync } from 'node:fs'
import { html } from 'hono/html'
import { STATUS } from '../core/errors.ts'
import type { Markup } from './page.ts'
import { prose } from './prose.ts'

const DOCUMENT = new URL('../../../docs/errors.md', import.meta.url)

/** @returns Where this page explains an error code; `undefined` for a text that is not one. */
export function errorTarget(code: string): string | undefined {
  return Object.hasOwn(STATUS, code) ? `#error-${code}` : undefined
}

/** @returns docs/errors.md for this page: what holds for all codes, and a section for each. */
export function errorSections(): Markup {
  const [opening = '', ...groups] = readFileSync(DOCUMENT, 'utf8').split(/^## /m)
  return html`<h2 class="tag" id="errors">Errors</h2>
${paragraphs(opening)}
${groups.map((group) => {
  const [head = '', ...sections] = group.split(/^### /m)
  return sections.map((section) => errorSection(head.trim(), section))
})}`
}

function errorSection(group: string, section: string): Markup {
  const [, code = '', text = ''] = /^`(\w+)`\n(.*)$/s.exec(section) ?? []
  return html`<section class="operation" id="error-${code}">
<h3><code>${code}</code> <small>${group}</small></h3>
${paragraphs(text)}
</section>`
}

/** Its headings and tables are left out: the page has its own. */
function paragraphs(text: string): Markup[] {
  return text
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== '' && !/^[#|]/.test(block))
    .map(
      (block) => html`<p>${prose(block.replaceAll('\n', ' ').replaceAll('*', ''), onThisPage)}</p>`,
    )
}

/** Other documents are not served here. */
function onThisPage(href: string): string | undefined {
  return href.startsWith('#') ? errorTarget(href.slice(1)) : undefined
}
