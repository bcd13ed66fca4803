import type { Hono } from 'hono'
import { toBuffer, toString as toSvg } from 'qrcode'
import { decodePublicId } from '../../document/public-id.ts'
import type { Deps } from '../app.ts'
import type { Env } from '../env.ts'
import { PRIVATE } from '../envelope.ts'
import { ApiError } from '../errors.ts'
import { verifyUrlOf } from '../present.ts'

/** GET /qr/{publicId}: the QR code that leads to the verify page. Public; it says nothing about the document's status. */
export function qrRoutes(app: Hono<Env>, { addresses }: Deps): void {
  app.get('/qr/:publicId', async (c) => {
    const publicId = c.req.param('publicId')
    decodePublicId(publicId)
    const text = verifyUrlOf(addresses, publicId)
    const format = formatOf(c.req.query('format'), c.req.header('accept'))
    if (format === 'svg')
      return c.body(await toSvg(text, { type: 'svg' }), 200, {
        ...PRIVATE,
        'Content-Type': 'image/svg+xml',
        Vary: 'Accept',
      })
    const png = await toBuffer(text, { scale: 8 })
    return c.body(new Uint8Array(png), 200, {
      ...PRIVATE,
      'Content-Type': 'image/png',
      Vary: 'Accept',
    })
  })
}

function formatOf(format: string | undefined, accept = '*/*'): 'svg' | 'png' {
  if (format === 'svg' || format === 'png') return format
  if (format !== undefined)
    throw new ApiError('bad_query', 'some parameters are bad', {
      details: [{ field: 'format', message: 'must be svg or png' }],
    })
  const png = /image\/png/i.test(accept) && !/image\/svg\+xml/i.test(accept)
  return png ? 'png' : 'svg'
}
