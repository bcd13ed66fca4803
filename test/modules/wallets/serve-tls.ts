import { type RequestListener, request } from 'node:http'
import { createServer, type Server } from 'node:https'
import { CERTIFIED_KEY } from './certified-key.ts'

/** Those of BCP 195; the conformance suite warns about others. */
const CIPHERS = 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256'

/**
 * @param others Answers the requests to other hosts, by host.
 * @returns A proxy for https in front of a port.
 */
export function serveTls(port: number, others: Record<string, RequestListener> = {}): Server {
  const { key, certificate: cert } = CERTIFIED_KEY
  return createServer({ key, cert, ciphers: CIPHERS }, (incoming, outgoing) => {
    const { url: path, method, headers } = incoming
    const other = others[headers.host ?? '']
    if (other) return other(incoming, outgoing)
    const onward = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
}
