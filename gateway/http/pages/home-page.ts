import { html } from 'hono/html'
import type { Network } from '../../../verifier/network.ts'
import type { Addresses } from '../present.ts'
import { type Markup, testBanner } from './page.ts'

/** The routes, shown to a person who wonders what this service is. */
const CALLS = [
  ['POST /v1/documents', 'issue a document'],
  ['GET /v1/verify?publicId=…', 'verify one'],
  ['GET /v1/documents/{publicId}', 'read one, with its status now'],
  ['GET /v1/documents/{publicId}/bundle', 'save a proof that needs no network'],
  ['POST /v1/documents/{publicId}/revoke', 'revoke one for good'],
  ['POST /v1/documents/{publicId}/suspend', 'put one on hold'],
  ['POST /v1/documents/{publicId}/release', 'end the hold'],
] as const

/** The landing page. Its links are relative, so that they hold behind a proxy too. */
export function homePage({ verifyUrl, registry }: Addresses, network: Network): Markup {
  return html`${testBanner(network, 'not for real documents')}
<section class="home">
<h1>Documents that anyone can check</h1>
<p class="lead">This service issues documents and anchors each on a blockchain. Anyone can check a document, even years later, with or without this service.</p>
<p class="ways"><a class="button primary" href="${verifyUrl}">Check a document</a></p>
<p class="hint">You need its code, a picture of its QR code, or its proof file. The check runs in your own browser.</p>
</section>
<section>
<h2>For programs</h2>
<dl class="calls">
${CALLS.map(([call, text]) => html`<div><dt><code>${call}</code></dt><dd>${text}</dd></div>`)}
</dl>
<p>Each call needs an API key, from whoever runs this service. The manual is <code>docs/integrate.md</code> in the source code of document-registry.</p>
</section>
<section>
<h2>This service</h2>
<dl>
<div><dt>Registry</dt><dd><code>${registry}</code></dd></div>
<div><dt>State</dt><dd><a href="healthz">health</a> · <a href="readyz">readiness</a> · <a href="metrics">metrics</a></dd></div>
</dl>
</section>`
}
