/** What an operator must act on. deployments/monitoring/alerts.yml has the same conditions. */
export const ALERTS = [
  'issuing_stopped',
  'low_balance',
  'may_not_revoke',
  'clock_behind_chain',
  'stale_head',
  'hourly_fees_near_cap',
  'queue_grows',
  'webhooks_fail',
  'erasures_unfinished',
] as const
export type Alert = (typeof ALERTS)[number]

/** The part of the cap on hourly fees above which they are near it. */
export const NEAR_CAP = 0.8
/** The number of actions that may wait for a transaction. */
export const MAX_QUEUED = 5_000
/** The age of the newest block, in seconds, above which the nodes stand still. */
export const STALE_HEAD_SECONDS = 300
/** How far the newest block may be ahead of this machine's clock. */
const MAX_CLOCK_SKEW_SECONDS = 15

/** The known state of the service. An absent value raises no alert. Amounts are in wei. */
export type Observed = {
  /** The error code that requests get. */
  stopped?: string | undefined
  balance?: bigint | undefined
  lowBalance: bigint
  mayRevoke?: boolean | undefined
  /** Seconds since the newest block; negative when the clock is behind the chain. */
  headAge?: number | undefined
  /** Whether blocks come by themselves. On the local chain they come with transactions. */
  hasRegularBlocks?: boolean
  spentLastHour?: bigint | undefined
  hourlyCap?: bigint | undefined
  queued?: number
  webhooks?: { failing: number; disabled: number } | undefined
  unfinishedErasures?: number | undefined
}

/** @returns The alerts, the most urgent first. */
export function alertsOf(seen: Observed): Alert[] {
  const { balance, headAge = 0, spentLastHour = 0n, hourlyCap, webhooks } = seen
  const isRaised: Record<Alert, boolean> = {
    issuing_stopped: seen.stopped !== undefined,
    low_balance: balance !== undefined && balance < seen.lowBalance,
    may_not_revoke: seen.mayRevoke === false,
    clock_behind_chain: headAge < -MAX_CLOCK_SKEW_SECONDS,
    stale_head: seen.hasRegularBlocks === true && headAge > STALE_HEAD_SECONDS,
    hourly_fees_near_cap:
      hourlyCap !== undefined && Number(spentLastHour) > NEAR_CAP * Number(hourlyCap),
    queue_grows: (seen.queued ?? 0) > MAX_QUEUED,
    webhooks_fail: (webhooks?.failing ?? 0) + (webhooks?.disabled ?? 0) > 0,
    erasures_unfinished: (seen.unfinishedErasures ?? 0) > 0,
  }
  return ALERTS.filter((name) => isRaised[name])
}
