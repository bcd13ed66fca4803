/**
 * `node scripts/run.mjs tools/bench/certificates.ts [certificates] [templates]`: prints certificates of
 * each template as `docreg` does, without reading chain and IPFS, and throws them away. Processor
 * time and memory are those of all processes; memory is the maximum resident set. Linux only.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { packCache } from '#certificates/packs.ts'
import { createPool, type Pool } from '#certificates/pool.ts'
import { readSettings } from '#certificates/settings.ts'
import { findTemplate, TEMPLATES } from '#certificates/template.ts'
import { usageOf } from './processes.ts'
import { documentOf } from './requests.ts'

const count = Number(process.argv[2] ?? 10_000)
const names = process.argv[3]?.split(',') ?? TEMPLATES
/** The same number as in `docreg`. */
const CONCURRENCY = 16
const SAMPLE_INTERVAL_MS = 500
/** The bytes of a sealed document and its proof, as on the local chain after some blocks. */
const BUNDLE_BYTES = 8_000

const hashOf = (i: number) => createHash('sha256').update(`${i}`).digest('hex')

function print(pool: Pool, i: number): Promise<Buffer> {
  const hash = hashOf(i)
  const bundle = createHash('shake256', { outputLength: BUNDLE_BYTES / 2 }).update(hash)
  return pool.print({
    document: {
      ...documentOf(18_151_210 + i),
      expiresAt: '2036-01-30',
      metadata: { degree: 'Mathematics', grade: `1.${i % 10}` },
      issuerId: 1,
      registry: 'eip155:31337:0x363cff7b0447deccc4c6c14f030f6c99b73a053f',
    },
    documentHash: `0x${hash}`,
    // A link with publicId and registry, of the usual length.
    link: `https://registry.example/verify#publicId=${hash}${hash.slice(0, 13)}&registry=eip155:31337:0x${hash.slice(0, 40)}`,
    bundle: JSON.stringify({ type: 'document-registry-bundle', sealed: bundle.digest('hex') }),
  })
}

/**
 * @returns The resident bytes of this process and its children, and their processor seconds so far.
 */
function usage(): { resident: number; cpu: number } {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
  const pids = [process.pid, ...children.trim().split(' ').map(Number)]
  const usages = pids.map(usageOf)
  const sum = (of: 'resident' | 'cpu') => usages.reduce((all, one) => all + (one?.[of] ?? 0), 0)
  return { resident: sum('resident'), cpu: sum('cpu') }
}

async function measure(name: string): Promise<void> {
  const template = findTemplate(name)
  const pool = createPool({
    template,
    settings: readSettings(template),
    fontPaths: [],
    env: process.env,
    cache: packCache(process.env),
    report: console.error,
  })
  const started = performance.now()
  const before = process.cpuUsage()
  let [peak, bytes, next, afterTenth] = [0, 0, 0, 0]
  const sample = setInterval(() => {
    peak = Math.max(peak, usage().resident)
  }, SAMPLE_INTERVAL_MS)
  const work = async () => {
    while (next < count) {
      // This is read only after the wait, because others add to it meanwhile.
      const { length } = await print(pool, next++)
      bytes += length
      if (next === Math.ceil(count / 10)) afterTenth = usage().resident
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  clearInterval(sample)
  const seconds = (performance.now() - started) / 1000
  const { cpu, resident } = usage()
  pool.close()
  const earlier = (before.user + before.system) / 1e6
  const mib = (size: number) => `${Math.round(size / 2 ** 20)} MiB`
  console.log(`template           ${name}
certificates       ${count}, ${Math.round(bytes / count / 1024)} KiB each
seconds            ${seconds.toFixed(1)}, ${((1000 * seconds) / count).toFixed(1)} ms each
processor          ${((1000 * (cpu - earlier)) / count).toFixed(1)} ms each
memory             ${mib(afterTenth)} after a tenth, ${mib(resident)} at the end, ${mib(Math.max(peak, resident))} at most
`)
}

for (const name of names) await measure(name)
