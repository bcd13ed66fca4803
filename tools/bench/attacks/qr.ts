import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { type Attack, client, flood } from './attack.ts'

/** QR codes as PNG, within the limit of an address. */
export const qr: Attack = {
  name: 'qr',
  async start({ url }) {
    const send = client(url)
    const path = `/qr/${golden.documents[0]?.publicId}?format=png`
    return flood({ atOnce: 2_000, perSecond: 100 }, () => send(path))
  },
}
