import type { ServerResponse } from 'node:http'

/** The HTTP answer of a node or source; `never` and `hang up` send none. */
export type Reply =
  | {
      status: number
      /** The content type; absent = no header. */
      type?: string
      body?: Uint8Array
      /** The start of a body that never ends. */
      unfinished?: true
      /** The target of a redirect. */
      location?: string
      /** Withholds the CORS header from pages of other origins. */
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
