import type { Grant } from './grant.ts'

/** What handlers find in their context. */
export type Env = {
  Variables: {
    /** Made here for each request; in its response, and in its line of the log. */
    requestId: string
    /** Behind `authorize` only. */
    grant: Grant
  }
}
