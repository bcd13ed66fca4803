import type { Context } from 'hono'
import { html } from 'hono/html'
import type { Addresses } from '../resources/present.ts'
import { type Markup, respondWithPage, testBanner } from './page.ts'

/**
 * The landing page. Its links are relative so that they also work behind a proxy.
 *
 * @param peoplePage See `AppDeps`.
 */
export function homePage(
  { verifyUrl, registry, network }: Addresses,
  peoplePage: string | undefined,
): Markup {
  return html`${testBanner(network)}
<section class="home">
<h1>Documents that anyone can check</h1>
<p class="lead">This service issues documents and anchors each on a blockchain. Anyone can check a document, even years later, with or without this service.</p>
<p class="ways"><a class="button primary" href="${verifyUrl}">Check a document</a></p>
<p class="hint">You need its code, a picture of its QR code, or its proof file. The check runs in your own browser.</p>
</section>
${peoplePage && forPeople(peoplePage)}
<section>
<h2>For programs</h2>
<p>Issue, list and revoke documents over REST: <a href="docs">the reference</a>, and the same as <a href="openapi.json">OpenAPI</a>. Calls need an API key, from whoever runs this service.</p>
</section>
<section>
<h2>This service</h2>
<dl>
<div><dt>Registry</dt><dd><code>${registry}</code></dd></div>
<div><dt>State</dt><dd><a href="healthz">health</a> · <a href="readyz">readiness</a> · <a href="metrics">metrics</a></dd></div>
</dl>
</section>`
}

const forPeople = (page: string) => html`<section>
<h2>For the people of this office</h2>
<p>Issue, find, correct and revoke documents in your browser: <a href="${page}">the desk</a>. You need a sign-in link, from an administrator of the desk.</p>
</section>`

/**
 * Responds with the page for an address where there is nothing. The fragment may have the code of a
 * document, so the reader is asked to enter it again.
 */
export function respondLost(
  c: Context,
  { verifyUrl, baseUrl }: Addresses,
  vary: string,
): Promise<Response> {
  const main = html`<section class="home">
<h1>There is nothing at this address</h1>
<p class="lead">This says nothing about any document. The address may be mistyped, or parts of it may be missing.</p>
<p class="ways"><a class="button primary" href="${verifyUrl}">Check a document</a></p>
<p class="hint">Enter the code of the document there, or scan its QR code again. The other pages of this service are listed <a href="${baseUrl}/">on its first page</a>.</p>
</section>`
  return respondWithPage(c, { title: 'Nothing at this address', main, vary, status: 404 })
}
