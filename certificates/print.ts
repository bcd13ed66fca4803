import { create } from 'qrcode'
import type { Document } from '../document/document.ts'
import { fromHex, type Hex } from '../document/hex.ts'
import { contentOf } from './content.ts'
import type { Engine } from './engine.ts'
import { packsFor } from './packs.ts'
import { rosetteOf } from './rosette.ts'
import type { Settings } from './settings.ts'

export type Certificate = {
  document: Document
  documentHash: Hex
  /** The verify link, for the QR code. */
  link: string
  /** The text of the bundle to attach. */
  bundle: string
}

/** @returns The PDF. @throws {CertificateError} */
export async function printCertificate(
  engine: Engine,
  settings: Settings,
  { document, documentHash, link, bundle }: Certificate,
  keywords: string[] = [],
): Promise<Buffer> {
  const content = contentOf(document, settings)
  const text = JSON.stringify(content)
  return engine.print(packsFor(settings.languages, text), (fonts) => ({
    'data.json': JSON.stringify({
      ...content,
      ...pictures(settings),
      fonts: {
        serif: [...settings.fonts, ...fonts.serif],
        sans: [...settings.fonts, ...fonts.sans],
      },
      colours: settings.colours,
      keywords,
      link,
      host: new URL(link).host,
      fingerprint: fingerprintOf(documentHash),
    }),
    'rosette.svg': rosetteSvg(documentHash, settings.colours),
    'qr.svg': qrSvg(link),
    'bundle.json': bundle,
  }))
}

function pictures({ logo, seal, issuer }: Settings) {
  const name = Object.values(issuer)[0] ?? ''
  return {
    logo: logo === undefined ? null : `/${logo}`,
    seal: seal === undefined ? null : `/${seal}`,
    alt: {
      ...{ logo: `Logo: ${name}`, seal: `Seal: ${name}` },
      qr: 'QR code: the link that checks this document',
      bundle: 'The document, its key, and the proof that it was issued',
    },
  }
}

/** The first 16 hexadecimal digits, in groups of four. */
function fingerprintOf(hash: Hex): string {
  return hash.slice(2, 18).replace(/(.{4})(?!$)/g, '$1 ')
}

function rosetteSvg(hash: Hex, { ink, accent }: Settings['colours']): string {
  const paths = rosetteOf(fromHex(hash)).map(
    (path, i) => `<path d="${path}" stroke="${i === 1 ? ink : accent}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1000 -1000 2000 2000" width="100" height="100"><g fill="none" stroke-width="6">${paths.join('')}</g></svg>`
}

/** With a quiet zone of two modules; the paper around it is the rest. */
function qrSvg(link: string): string {
  const { modules } = create(link, { errorCorrectionLevel: 'L' })
  const { size, data } = modules
  const rows = Array.from({ length: size }, (_, y) => {
    let row = ''
    for (let x = 0; x < size; x++) {
      if (!data[y * size + x]) continue
      const start = x
      while (x + 1 < size && data[y * size + x + 1]) x++
      row += `M${start} ${y}h${x + 1 - start}v1h-${x + 1 - start}z`
    }
    return row
  })
  const side = size + 4
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 ${side} ${side}" width="${side}" height="${side}"><path fill="#fff" d="M-2-2h${side}v${side}h-${side}z"/><path d="${rows.join('')}"/></svg>`
}
