/** What a request took from its quota. */
export type Allowance = {
  isAllowed: boolean
  /** Requests that are left now. */
  remaining: number
  /** Until the quota is full again; seconds, rounded up. */
  resetSeconds: number
  /** Until the next request is allowed; seconds, rounded up, at least 1. */
  retryAfterSeconds: number
}

/** Counts requests. */
export type RateLimiter = {
  /**
   * Takes one request from a quota. A request that is not allowed takes nothing.
   *
   * @param name Whose quota.
   * @param perSecond Its size, and what comes back in a second.
   */
  take(name: string, perSecond: number): Promise<Allowance>
}
