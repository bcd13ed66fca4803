import type { ServerResponse } from 'node:http'

/** What a node or a source answers over HTTP; `never` and `hang up` are none. */
export type Reply =
  | {
      status: number
      /** Of the content; left out where there is none. */
      type?: string
      body?: Uint8Array
      /** The body begins so, and never ends. */
      unfinished?: true
      /** Where a redirect leads. */
      location?: string
      /** Pages of other origins may not read it. */
      cors?: false
    }
  | 'never'
  | 'hang up'

export function sendReply(reply: Reply, response: ServerResponse): void {
  if (reply === 'never') return
  if (reply === 'hang up') {
    response.destroy()
    return
  }
  const { status, type, body, unfinished, location, cors } = reply
  if (type) response.setHeader('content-type', type)
  if (location) response.setHeader('location', location)
  if (cors === false) response.removeHeader('access-control-allow-origin')
  response.writeHead(status)
  if (unfinished) response.write(body)
  else response.end(body)
}
