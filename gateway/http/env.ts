import type { Grant } from '../grant.ts'

/** The variables in a handler's context. */
export type Env = {
  Variables: {
    /** Generated for each request; part of its response and of its log line. */
    requestId: string
    /** Whether the response is an envelope, which carries the id already. */
    isEnvelope?: boolean
    /** Set by `authorize`. */
    grant: Grant
  }
}
