// The verify page as one file, dist/verify.html, that anyone can host or open from
// disk. The set-up builds it too.
//
//   --registry eip155:1:0x…   the registry that it trusts; without it, the page asks its reader
//   --rpc https://…           an endpoint that it reads; may be repeated
//   --ipfs https://…          a source of payloads; may be repeated
//   --live-chain <chainId>    a chain of your own that carries real documents; may be repeated
//   --no-identity             does not read files on issuers' domains
//   --out <file>              the file to write
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PAGE_FILE, withConfig } from '#http/pages/verify-page.ts'
import { BAD_LIVE_CHAIN, parseLiveChain } from '#verifier/network.ts'
import { parseSources } from '#web/config.ts'
import { buildPage } from './page.ts'

const { values } = parseArgs({
  options: {
    registry: { type: 'string' },
    rpc: { type: 'string', multiple: true, default: [] },
    ipfs: { type: 'string', multiple: true, default: [] },
    'live-chain': { type: 'string', multiple: true, default: [] },
    'no-identity': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})

const { registry, rpc, ipfs, 'live-chain': live, 'no-identity': isSilent } = values
const plain = registry === undefined && rpc.length + ipfs.length + live.length === 0 && !isSilent

function configured(page: string): string {
  if (plain) return page
  const result = parseSources({
    registry: registry ?? '',
    rpc: rpc.join('\n'),
    ipfs: ipfs.join('\n'),
  })
  const areChains = live.every((text) => parseLiveChain(text) !== undefined)
  if ('sources' in result && areChains)
    return withConfig(page, {
      ...result.sources,
      ...(live.length > 0 && { liveChains: live.map(Number) }),
      ...(isSilent && { identity: false }),
    })
  const problems = 'problems' in result ? result.problems.map((name) => `--${name}`) : []
  if (problems.length > 0) console.error(`bad or missing: ${problems.join(', ')}`)
  if (!areChains) console.error(`--live-chain ${BAD_LIVE_CHAIN}`)
  process.exit(1)
}

// The gateway serves the plain page, and adds its own configuration to it.
const usual = fileURLToPath(plain ? PAGE_FILE : new URL('verify-configured.html', PAGE_FILE))
const out = resolve(values.out ?? usual)
// The reader may name any node; in a page opened from disk, also one on the local network.
const page = configured(await buildPage('apps/page', { connect: 'https: http:' }))
mkdirSync(dirname(out), { recursive: true })
writeFileSync(out, page)
console.log(out)
