import type { Attack } from './attack.ts'
import { metrics } from './metrics.ts'
import { proofs } from './proofs.ts'
import { qr } from './qr.ts'
import { refusals } from './refusals.ts'
import { longRevocations, slowRevocations } from './revocations.ts'
import { uploads } from './uploads.ts'
import { webhooks } from './webhooks.ts'

export const SCENARIOS: readonly Attack[] = [
  ...[qr, refusals, metrics, proofs],
  ...[uploads, slowRevocations, longRevocations, webhooks],
]
