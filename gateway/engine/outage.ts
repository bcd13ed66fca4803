import type { Log } from '#base/log.ts'
import { asIssueError, type IssueError } from '#promise/errors.ts'

/** Why nothing can be anchored now, if so. */
export type Outage = {
  error(): IssueError | undefined
  begin(cause: unknown): void
  end(): void
}

/** Logs when issuing stops, for each new reason, and when it resumes. */
export function createOutage(log: Log): Outage {
  let current: IssueError | undefined

  return {
    error: () => current,
    begin(cause) {
      const error = asIssueError(cause)
      if (error.code !== current?.code)
        log.warn('issuing_stopped', { code: error.code, error: error.message })
      current = error
    },
    end() {
      if (current) log.info('issuing_resumed')
      current = undefined
    },
  }
}
