import { html } from 'hono/html'
import type { Markup } from './page.ts'

/**
 * @param targetOf Where a link of a text leads on this page; `undefined` shows its words alone.
 * @returns Text with `code` and [links](…) of CommonMark, and nothing else of it.
 */
export function prose(
  text: string,
  targetOf: (href: string) => string | undefined = onlyHttps,
): Markup {
  const parts = text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/)
  return html`${parts.map((part) => {
    const [, code] = /^`(.+)`$/s.exec(part) ?? []
    if (code !== undefined) return html`<code>${code}</code>`
    const [, label = '', href] = /^\[(.+)\]\((.+)\)$/s.exec(part) ?? []
    if (href === undefined) return part
    const target = targetOf(href)
    return target === undefined
      ? prose(label, targetOf)
      : html`<a href="${target}">${prose(label, targetOf)}</a>`
  })}`
}

function onlyHttps(href: string): string | undefined {
  return href.startsWith('https:') ? href : undefined
}
