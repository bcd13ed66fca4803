import { html } from 'hono/html'
import type { Network } from '#verifier/network.ts'
import { type Markup, testBanner } from './page.ts'

/**
 * The page at the address of a QR code: the code, how to use it, and a warning. It says nothing
 * about the document itself, which it has not checked.
 */
export function qrPage(verifyUrl: string, network: Network): Markup {
  return html`${testBanner(network)}
<section class="qr">
<img src="?format=svg" alt="QR code that leads to the verify page of one document" width="320" height="320">
<div class="text">
<h1>QR code of a document</h1>
<p>Anyone who scans it can check the document against the blockchain, and read it.</p>
<p class="ways">
<a class="button primary" href="${verifyUrl}">Check the document</a>
<a class="button" href="?format=svg" download="document-qr-code.svg">Save for print (SVG)</a>
<a class="button" href="?format=png" download="document-qr-code.png">Save as a picture (PNG)</a>
</p>
</div>
</section>
<section class="secret">
<h2>As confidential as the document itself</h2>
<p>Whoever has this code, or the address of this page, can read the whole document. Pass both on only to those who may read it, and post neither in public.</p>
</section>
<section class="steps">
<h2>What to do with it</h2>
<ul>
<li><strong>Put it on the document.</strong> Print it at least 3 cm wide, dark on white, and leave the white margin around it.</li>
<li><strong>To check the document, scan it</strong> with the camera of any phone. That takes no app and no account.</li>
<li><strong>Look at the address of the page that opens.</strong> It must be one that the issuer has published: a forged code leads to a forged page.</li>
</ul>
<p class="hint">This page has not checked the document. Such a code can be made for a document that was never issued, too.</p>
</section>`
}
