import { Webhook } from 'standardwebhooks'
import { bodyOf, serveHttp, type TestServer } from './http.ts'

export type Received = {
  id: string
  /** The header, with a signature for each secret. */
  signature: string
  event: {
    id: string
    type: string
    timestamp: string
    data: { documentHash: string; blockNumber: number | null; tenant: string | null }
  }
}

/** A receiver of webhooks, written with the public library of Standard Webhooks. */
export type WebhookReceiver = TestServer & {
  /** Set once it is known. Deliveries before that are refused. */
  secret: string | undefined
  /** Every delivery that was verified and accepted, in order. */
  accepted: Received[]
  /** The same deliveries with each id once, which is what a receiver acts on. */
  once(): Received[]
  /** Deliveries whose signature did not verify. */
  forged: number
  /** The status for a verified delivery. */
  answer: (received: Received) => number | Promise<number>
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const server = await serveHttp(async (request, response) => {
    const body = await bodyOf(request)
    const end = (status: number) => {
      response.writeHead(status).end('thank you')
    }
    if (receiver.secret === undefined) return end(503)
    try {
      const headers = request.headers as Record<string, string>
      const event = new Webhook(receiver.secret).verify(body, headers) as Received['event']
      const received = {
        id: headers['webhook-id'] ?? '',
        signature: headers['webhook-signature'] ?? '',
        event,
      }
      const status = await receiver.answer(received)
      if (status < 300) receiver.accepted.push(received)
      end(status)
    } catch {
      receiver.forged++
      end(401)
    }
  })
  const receiver: WebhookReceiver = {
    ...server,
    secret: undefined,
    accepted: [],
    forged: 0,
    answer: () => 200,
    once() {
      const byId = new Map<string, Received>()
      for (const one of receiver.accepted) if (!byId.has(one.id)) byId.set(one.id, one)
      return [...byId.values()]
    },
  }
  return receiver
}
