import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EngineOptions } from './engine.ts'
import { CertificateError } from './errors.ts'
import { findPack, type Pack, packsFor } from './packs.ts'
import type { Certificate } from './print.ts'
import type { Settings } from './settings.ts'
import type { FromWorker, Job, WorkerOptions } from './worker.ts'

/** The worker is TypeScript in a checkout, and JavaScript in the package. */
const WORKER = fileURLToPath(
  new URL(`../../packages/certificates/worker${extname(import.meta.url)}`, import.meta.url),
)
const MAX_WORKERS = 4
/**
 * The number of certificates that a worker has at a time, so that the next one is there when one is
 * ready.
 */
const MAX_JOBS_PER_WORKER = 2
/**
 * The maximum memory in bytes. A process that prints in every script has about 400 MB; a larger one
 * is replaced.
 */
const MAX_RSS = 1024 ** 3
/** The slowest certificates take a second, and many times that on a busy machine. */
const JOB_TIMEOUT_MS = 120_000

/** Prints certificates of one template in separate processes, one for each core. */
export type Pool = {
  /**
   * @returns The PDF.
   * @throws {CertificateError} for this certificate only: `engine_failed` if its process ends or
   * takes longer than two minutes. The others are then printed by another process.
   */
  print(certificate: Certificate, keywords?: string[]): Promise<Buffer>
  /** Ends the processes; unfinished certificates fail. */
  close(): void
}

export type PoolOptions = EngineOptions & {
  settings: Settings
  /** The complete environment of the processes. */
  env: NodeJS.ProcessEnv
  /** The maximum number of processes; absent = the number of cores, at most 4. */
  workers?: number
  /** The memory in bytes at which a process is replaced. */
  maxRss?: number
  jobTimeoutMs?: number
  /** How long a process waits for another certificate; absent = until `close`. */
  idleMs?: number
}

type Waiting = { job: Job; resolve: (pdf: Buffer) => void; reject: (error: unknown) => void }
type Worker = { child: ChildProcess; jobs: Waiting[]; timer?: NodeJS.Timeout; isRetired: boolean }

export function createPool(options: PoolOptions): Pool {
  const { settings, cache, report } = options
  const { workers = Math.min(MAX_WORKERS, availableParallelism()) } = options
  const packs = new Map<Pack, Promise<string>>()
  const queue: Waiting[] = []
  const pool = new Set<Worker>()
  let isClosed = false

  /** Packs are installed here, so that two processes do not install the same one. */
  async function ensurePacks(certificate: Certificate): Promise<void> {
    const text = JSON.stringify([certificate.document, certificate.kind, settings])
    for (const pack of packsFor(settings.languages, text)) {
      const found = packs.get(pack) ?? findPack(pack, cache, report)
      packs.set(pack, found)
      // It may be installed meanwhile.
      found.catch(() => packs.delete(pack))
      await found
    }
  }

  function dispatch(): void {
    while (queue.length > 0) {
      const free = [...pool]
        .filter(({ jobs, isRetired }) => jobs.length < MAX_JOBS_PER_WORKER && !isRetired)
        .sort((a, b) => a.jobs.length - b.jobs.length)[0]
      const canStart = [...pool].filter(({ isRetired }) => !isRetired).length < workers
      const worker = canStart && free?.jobs.length !== 0 ? start() : free
      if (worker === undefined) return
      const waiting = queue.shift() as Waiting
      worker.jobs.push(waiting)
      worker.child.send(waiting.job, () => {})
      if (worker.jobs.length === 1) watch(worker)
    }
  }

  function start(): Worker {
    const { template, fontPaths } = options
    const child = fork(WORKER, {
      serialization: 'advanced',
      execArgv: [...process.execArgv, '--expose-gc'],
      // Its threads would cost more than they save on one page.
      env: { ...options.env, RAYON_NUM_THREADS: '1' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const worker: Worker = { child, jobs: [], isRetired: false }
    pool.add(worker)
    child.send({ template, fontPaths, cache, settings } satisfies WorkerOptions, () => {})
    child.on('message', (message: FromWorker) => answer(worker, message))
    child.once('error', () => end(worker))
    child.once('exit', () => end(worker))
    return worker
  }

  function watch(worker: Worker): void {
    clearTimeout(worker.timer)
    const { jobTimeoutMs = JOB_TIMEOUT_MS, idleMs } = options
    if (worker.jobs.length > 0)
      worker.timer = setTimeout(() => worker.child.kill('SIGKILL'), jobTimeoutMs)
    else if (idleMs !== undefined) worker.timer = setTimeout(() => retire(worker), idleMs)
  }

  /** Ends a process once it has printed what it was given. */
  function retire(worker: Worker): void {
    worker.isRetired = true
    if (worker.jobs.length === 0 && worker.child.connected) worker.child.disconnect()
  }

  function answer(worker: Worker, message: FromWorker): void {
    const waiting = worker.jobs.shift()
    if ('pdf' in message) waiting?.resolve(Buffer.from(message.pdf))
    else if (message.code === null) waiting?.reject(new Error(message.message))
    else waiting?.reject(new CertificateError(message.code, message.message))
    watch(worker)
    if (worker.isRetired || message.rss > (options.maxRss ?? MAX_RSS)) retire(worker)
    dispatch()
  }

  /** The first of its certificates is to blame; the others are printed by another process. */
  function end(worker: Worker): void {
    if (!pool.delete(worker)) return
    clearTimeout(worker.timer)
    const [first, ...others] = worker.jobs
    first?.reject(new CertificateError('engine_failed', 'the PDF engine failed on this document'))
    queue.unshift(...others)
    if (isClosed) rejectQueue()
    else dispatch()
  }

  function rejectQueue(): void {
    for (const { reject } of queue.splice(0))
      reject(new CertificateError('engine_failed', 'the PDF engine was shut down'))
  }

  return {
    async print(certificate, keywords = []) {
      await ensurePacks(certificate)
      return new Promise((resolve, reject) => {
        if (isClosed)
          return reject(new CertificateError('engine_failed', 'the PDF engine was shut down'))
        queue.push({ job: { certificate, keywords }, resolve, reject })
        dispatch()
      })
    },
    close() {
      isClosed = true
      for (const { child } of pool) child.kill('SIGKILL')
      rejectQueue()
    },
  }
}
