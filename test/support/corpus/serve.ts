import type { IncomingMessage, ServerResponse } from 'node:http'
import { cidOf } from '#document/cid.ts'
import { bodyOf } from '../http.ts'
import type { Case } from './case.ts'
import type { Chain } from './chain.ts'
import type { Made } from './made.ts'
import { type Answer, answerOf, askNode, type Call, deafReplyOf, replyWith } from './nodes.ts'
import { type Reply, sendReply } from './reply.ts'
import { replyAs, replyAsDomain } from './sources.ts'

/** A case with its document and a chain in the required state. */
export type SetUp = {
  case: Case
  made: Made
  chain: Chain
  marks: Record<string, number>
}

/** @returns The answers of a case's sources to GET, by path. */
export function repliesOf({ case: one, made }: SetUp): Map<string, Reply> {
  const { sources, batch, domain, name } = one
  const replies = new Map<string, Reply>()
  for (const [i, kind] of sources.entries()) {
    const put = (hash: Uint8Array, reply: Reply) =>
      replies.set(`/source/${i}/ipfs/${cidOf(hash)}`, reply)
    put(made.hash, replyAs(kind, made.bytes))
    if (made.batch) put(made.batch.hash, replyAs(batch?.sources[i] ?? 'has', made.batch.bytes))
  }
  if (domain !== undefined) replies.set(`/did/${name}`, replyAsDomain(domain))
  return replies
}

export type ServeOptions = {
  otherChain: () => Promise<Chain>
  /** Receives the answers of nodes. */
  onAnswer?: (path: string, call: Call, answer: Answer) => void
}

/**
 * `/rpc/<case>/<n>` is the case's n-th node; `/source/<n>/ipfs/<cid>` the n-th source of the case
 * whose block it is; `/did/<case>` is what the issuer's domain serves.
 */
export function serveCases(
  setUps: ReadonlyMap<string, SetUp>,
  { otherChain, onAnswer }: ServeOptions,
) {
  const replies = new Map<string, Reply>()
  for (const setUp of setUps.values())
    for (const [path, reply] of repliesOf(setUp)) {
      if (replies.has(path))
        throw new Error(`${setUp.case.name} has the same block as another case`)
      replies.set(path, reply)
    }

  async function replyOf(path: string, body: string): Promise<Reply> {
    const [, door, name = '', index = ''] = path.split('/')
    const setUp = setUps.get(name)
    const kind = setUp?.case.nodes[Number(index)]
    if (door !== 'rpc' || !setUp || !kind) return replies.get(path) ?? { status: 404 }
    const deaf = deafReplyOf(kind)
    if (deaf) return deaf
    const call = JSON.parse(body) as Call
    const chain = kind === 'other_chain' ? await otherChain() : setUp.chain
    const ask = (asked: Call) => askNode(chain.url, asked)
    const answer = await answerOf(kind, call, ask, setUp.marks)
    onAnswer?.(path, call, answer)
    return replyWith(call, answer)
  }

  return async (request: IncomingMessage, response: ServerResponse) => {
    // Pages of any origin may read, as with public nodes and gateways.
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end()
      return
    }
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    sendReply(await replyOf(pathname, await bodyOf(request)), response)
  }
}
