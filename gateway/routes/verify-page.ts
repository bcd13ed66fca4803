import type { Hono } from 'hono'
import { html } from 'hono/html'
import type { Deps } from '../app.ts'
import { PRIVATE } from '../envelope.ts'
import type { Authorized } from '../middleware/authorize.ts'

/** GET /verify: where a QR code leads. It says how to verify; it checks nothing itself yet. */
export function verifyPageRoutes(
  app: Hono<Authorized>,
  { addresses }: Deps,
): void {
  const { baseUrl, registry } = addresses
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Verify a document</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif }
body { max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem }
h1 { line-height: 1.2 }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
pre { padding: .9rem 1rem; border: 1px solid #8886; border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere }
</style>
</head>
<body>
<main>
<h1>Verify a document</h1>
<p>You came here by a QR code or a link. The part of the address after <code>#</code> holds the document's public
identifier. Your browser has not sent it to anybody. Whoever has it can read the document: pass it on with care.</p>
<p><strong>This page does not check anything, and a page behind a QR code proves nothing by itself.</strong> A document is
valid when the registry on the blockchain says so.</p>
<h2>Ask this service</h2>
<p>With an API key:</p>
<pre>curl -H "Authorization: Bearer $API_KEY" "${baseUrl}/v1/verify?publicId=…"</pre>
<h2>Check without trusting this service</h2>
<p>With the project's verifier module, a node of the chain, and any IPFS gateway that has the sealed document; this one serves
it at <code>${baseUrl}/ipfs/…?format=raw</code>. The registry that this service writes to is:</p>
<pre>${registry}</pre>
<p>Compare it with the registry that the issuer names in public: a forger can run a page like this one with a registry of
their own.</p>
</main>
</body>
</html>`.toString()

  app.get('/verify', (c) =>
    c.body(page, 200, {
      ...PRIVATE,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    }),
  )
}
