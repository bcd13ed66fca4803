import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { type Network, TEST_NETWORK } from '#verifier/network.ts'

export type Markup = ReturnType<typeof html>

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** The style of the verify page, with additions for these pages. */
const STYLE = read('../../../apps/page/style.css') + read('./pages.css')
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'X-Robots-Tag': 'noindex',
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath d='M7 2h13l6 6v22H7z' fill='%23556'/%3E%3Cpath d='m11 18 4 4 8-9' fill='none' stroke='%23fff' stroke-width='3'/%3E%3C/svg%3E"

export function testBanner(network: Network): Markup | '' {
  return network === 'live' ? '' : html`<p class="banner">${TEST_NETWORK}</p>`
}

/**
 * Responds with a page for people, in the style of the verify page, without scripts or resources
 * from other hosts.
 *
 * @param vary The request headers that decide whether this page or something else is the answer;
 * absent = none.
 */
export async function respondWithPage(
  c: Context,
  page: { title: string; main: Markup; vary?: string; status?: 200 | 404 },
): Promise<Response> {
  const { title, main, vary, status = 200 } = page
  const markup = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
</head>
<body class="plain">
<header><p class="brand">Document registry</p></header>
<main>
${main}
</main>
</body>
</html>
`
  return c.body(`${markup}`, status, { ...HEADERS, ...(vary && { Vary: vary }) })
}

/**
 * @param targetOf Where a link in the text leads on this page; `undefined` shows its text alone.
 * @returns Text with `code` and [links](…) of CommonMark; other markup is not supported.
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
