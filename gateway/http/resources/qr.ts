import type { Context } from 'hono'
import { html } from 'hono/html'
import type { QRCode } from 'qrcode'
import * as v from 'valibot'
import { drawPng } from '#certificates/png.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { Network } from '#verifier/network.ts'
import { ApiError, invalid } from '../core/errors.ts'
import { operation, resource } from '../core/operation.ts'
import { chargeCost } from '../core/rate-limits.ts'
import { prefers, problemsOf } from '../core/request.ts'
import { OFFER_COST, OFFER_ERRORS } from '../core/wallet-offers.ts'
import { respondLost } from '../pages/home-page.ts'
import { type Markup, respondWithPage, testBanner } from '../pages/page.ts'
import { verifyUrlOf } from './present.ts'
import { sentPublicId } from './schemas.ts'

type Format = 'svg' | 'png'

/** Only `Sec-Fetch-Dest` tells a person who opens the address from a page with the picture. */
const VARY = 'Accept, Sec-Fetch-Dest'
/**
 * The file name is fixed, because the last part of the address is the publicId, a decryption key,
 * which must not become the name of a downloaded file.
 */
const FILE_NAME = 'document-qr-code'
/**
 * The number of requests that a picture counts as. It takes 3 ms of the only thread, most other
 * requests less than 0.5 ms.
 */
const COST = 5
/** The number of white modules around the code that ISO/IEC 18004 requires. */
const BORDER = 4

const QR_CODE = operation({
  operationId: 'drawQrCode',
  route: 'GET /qr/:publicId',
  tag: 'Public',
  summary: 'Draw the QR code of a document',
  description:
    "The code leads to the verify page, and says nothing about the document's status. A browser whose user opens the address gets a page with the code. With `for=wallet` it is an offer for a wallet, for ten minutes.",
  parameters: { publicId: sentPublicId },
  scope: 'public',
  query: {
    format: v.exactOptional(
      v.pipe(
        v.picklist(['svg', 'png'], 'must be svg or png'),
        v.description('The format; if absent, `Accept` decides, with SVG as the default.'),
      ),
    ),
    for: v.exactOptional(
      v.pipe(
        v.literal('wallet', 'must be wallet'),
        v.description('`wallet` draws an offer for a wallet.'),
      ),
    ),
  },
  responses: {
    200: {
      description: 'The picture, or the page.',
      content: { 'image/svg+xml': null, 'image/png': null, 'text/html': null },
    },
    404: {
      description: 'A page for a browser whose user mistyped the address.',
      content: { 'text/html': null },
    },
  },
  errors: ['bad_query', 'erased', ...OFFER_ERRORS],
})

/** This route is public, and says nothing about the document's status. */
export const qrRoutes = resource([QR_CODE], (serve, deps) => {
  const { addresses, walletOffers } = deps
  serve(QR_CODE, async (c) => {
    const publicId = c.req.param('publicId')
    const sent = v.safeParse(v.object(QR_CODE.query), c.req.query())
    if (!sent.success) throw invalid('bad_query', problemsOf(sent.issues))
    const { format, for: purpose } = sent.output
    if (purpose === 'wallet') {
      if (!walletOffers)
        throw new ApiError('no_offers', 'this service puts no documents into wallets')
      await chargeCost(c, OFFER_COST)
      const link = await walletOffers.link(publicId)
      return respondWithPicture(c, link, format ?? acceptedFormat(c))
    }
    const isPage = format === undefined && c.req.header('sec-fetch-dest') === 'document'
    // People type this address from paper and can mistype it.
    if (isPage && !isPublicId(publicId)) return respondLost(c, addresses, VARY)
    decodePublicId(publicId)
    const verifyUrl = verifyUrlOf(addresses, publicId)
    if (isPage)
      return respondWithPage(c, {
        title: 'QR code of a document',
        main: qrPage(verifyUrl, addresses.network),
        vary: VARY,
      })
    await chargeCost(c, COST)
    return respondWithPicture(c, verifyUrl, format ?? acceptedFormat(c))
  })
})

function isPublicId(text: string): boolean {
  try {
    decodePublicId(text)
    return true
  } catch {
    return false
  }
}

async function respondWithPicture(c: Context, text: string, format: Format): Promise<Response> {
  const headers = {
    'Content-Disposition': `inline; filename="${FILE_NAME}.${format}"`,
    'X-Robots-Tag': 'noindex',
    Vary: VARY,
  }
  // Loaded with the first picture, because a start does not need it.
  const { create, toString: toSvg } = await import('qrcode')
  if (format === 'svg')
    return c.body(await toSvg(text, { type: 'svg' }), 200, {
      ...headers,
      'Content-Type': 'image/svg+xml',
    })
  return c.body(new Uint8Array(drawPng(modulesOf(create(text)))), 200, {
    ...headers,
    'Content-Type': 'image/png',
  })
}

/** @returns Rows of modules with the border, `true` for dark. */
function modulesOf({ modules }: QRCode): boolean[][] {
  const lines = Array.from({ length: modules.size + 2 * BORDER }, (_, i) => i - BORDER)
  const isInside = (at: number) => at >= 0 && at < modules.size
  return lines.map((y) =>
    lines.map((x) => isInside(x) && isInside(y) && Boolean(modules.get(y, x))),
  )
}

function acceptedFormat(c: Context): Format {
  return prefers(c, 'image/png', 'image/svg+xml') ? 'png' : 'svg'
}

/**
 * The page at the address of a QR code, with the code, instructions and a warning. It says nothing
 * about the document, which it has not checked.
 */
function qrPage(verifyUrl: string, network: Network): Markup {
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
