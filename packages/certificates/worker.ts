// A process of `createPool` that prints one certificate after another. It receives first
// WorkerOptions and then Jobs.
import { createEngine, type Engine, type EngineOptions } from './engine.ts'
import { CertificateError, type CertificateErrorCode } from './errors.ts'
import { type Certificate, printCertificate } from './print.ts'
import type { Settings } from './settings.ts'

export type WorkerOptions = Omit<EngineOptions, 'report'> & { settings: Settings }
export type Job = { certificate: Certificate; keywords: string[] }
/** One answer for each job, in order; `code` is `null` for a bug. `rss` is in bytes. */
export type FromWorker = { rss: number } & (
  | { pdf: Uint8Array }
  | { code: CertificateErrorCode | null; message: string }
)

/**
 * Pages of the engine are small objects for V8, with a MB outside of its heap, so it must be told
 * to collect them. Their memory is freed in the next turn of the event loop.
 */
const JOBS_PER_COLLECTION = 25

let engine: Engine | undefined
let settings: Settings | undefined
let before: Promise<void> = Promise.resolve()
let printed = 0

process.on('message', (message: WorkerOptions | Job) => {
  before = before.then(() => ('template' in message ? open(message) : print(message)))
})
// A terminal sends Ctrl-C to this process too. The command decides what is still printed.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => process.exit())

function open(options: WorkerOptions): void {
  settings = options.settings
  engine = createEngine({ ...options, report: () => {} })
}

async function print({ certificate, keywords }: Job): Promise<void> {
  try {
    if (!engine || !settings) throw new Error('a worker received a job before its options')
    answer({ pdf: await printCertificate(engine, settings, certificate, keywords) })
  } catch (error) {
    const { message } = error as Error
    answer({ code: error instanceof CertificateError ? error.code : null, message })
  }
  if (++printed % JOBS_PER_COLLECTION === 0) globalThis.gc?.()
}

type Answer = FromWorker extends infer T ? (T extends unknown ? Omit<T, 'rss'> : never) : never

function answer(message: Answer): void {
  // The command may have ended meanwhile.
  process.send?.({ ...message, rss: process.memoryUsage.rss() }, () => {})
}
