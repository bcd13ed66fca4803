import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

// An authenticator in software, as WebAuthn describes it: ES256, attestation "none".

const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 }
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

type Options = { challenge: string }
/** What an honest authenticator would not do. */
export type Deviation = {
  origin?: string
  rpId?: string
  isVerified?: boolean
  counter?: number
  /** Signs with another key. */
  isForged?: boolean
}

/** @param origin The origin of the page that asks it. */
export function createAuthenticator(origin: string) {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { publicKey, privateKey } = pair()
  const id = randomBytes(16)
  let counter = 0

  function authenticatorData(flags: number, more: Uint8Array, deviation: Deviation): Buffer {
    const { rpId = new URL(origin).hostname, isVerified = true } = deviation
    const rest = Buffer.alloc(5)
    rest[0] = flags | FLAGS.present | (isVerified ? FLAGS.verified : 0)
    rest.writeUInt32BE(deviation.counter ?? ++counter, 1)
    return Buffer.concat([sha256(rpId), rest, more])
  }

  const clientData = (type: string, { challenge }: Options, deviation: Deviation) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: deviation.origin ?? origin }))

  const credential = (response: object) => ({
    id: base64url(id),
    rawId: base64url(id),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    create(options: Options, deviation: Deviation = {}) {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      // {1: 2, 3: -7, -1: 1, -2: x, -3: y} in CBOR.
      const cose = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ])
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
      const data = authenticatorData(FLAGS.attested, attested, deviation)
      const attestationObject = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
        Buffer.from([0x58, data.length]),
        data,
      ])
      return credential({
        clientDataJSON: base64url(clientData('webauthn.create', options, deviation)),
        attestationObject: base64url(attestationObject),
        transports: ['internal'],
      })
    },
    get(options: Options, deviation: Deviation = {}) {
      const client = clientData('webauthn.get', options, deviation)
      const data = authenticatorData(0, Buffer.alloc(0), deviation)
      const key = deviation.isForged ? pair().privateKey : privateKey
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), key)
      return credential({
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
      })
    },
  }
}
