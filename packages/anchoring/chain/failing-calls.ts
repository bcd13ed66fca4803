/** How soon a method is tried again that failed, and when its failure is forgotten; milliseconds. */
const [RETRY_MS, FORGET_MS] = [5_000, 60_000]
/** Many nodes lack or limit these; that says nothing about their other answers. */
const OFTEN_LIMITED = /^(eth_getProof|eth_getLogs|debug_)/

/**
 * The methods that one endpoint failed while another answered. All of its calls come last then, so
 * that reads do not mix the states of two nodes.
 */
export type FailingCalls = {
  failed(method: string): void
  answered(method: string): void
  comesLast(method: string): boolean
  /** @returns Whether to try a failed method again now. It is true once in a while. */
  takeRetry(method: string): boolean
}

export function createFailingCalls(): FailingCalls {
  /** By method, when it last failed or was tried again. */
  const failures = new Map<string, number>()
  return {
    failed: (method) => void failures.set(method, performance.now()),
    answered: (method) => void failures.delete(method),
    comesLast: (method) =>
      [...failures].some(
        ([failed, at]) =>
          performance.now() - at < FORGET_MS && (failed === method || !OFTEN_LIMITED.test(failed)),
      ),
    takeRetry(method) {
      const at = failures.get(method)
      if (at === undefined || performance.now() - at < RETRY_MS) return false
      failures.set(method, performance.now())
      return true
    },
  }
}
