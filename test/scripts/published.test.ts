import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cacheFolder } from '#scripts/cache-folder.ts'
import { makePackages } from '#scripts/packages.ts'
import manifest from '../../package.json' with { type: 'json' }
import { type Block, readPage } from '../docs/markdown.ts'
import { describeInBrowser, launchChromium } from '../support/chromium.ts'
import { type Run, run } from '../support/docreg.ts'
import { serveHttp } from '../support/http.ts'
import { IS_LONG } from '../support/long.ts'
import { ADA, API_KEY, type Stack, startStack } from '../support/stack.ts'
import { type NpmRegistry, startNpmRegistry, verdaccio } from './npm-registry.ts'
import { npmTools } from './npm-tools.ts'

// Both packages are published to a real registry, and installed from there into empty folders, where
// the code of their READMEs runs against a real chain and gateway.

const modules = IS_LONG ? await verdaccio() : undefined

let folder: string
let registry: NpmRegistry
let stack: Stack
let publicId: string
let readme: Block[]
/** Installed when nothing was published yet. */
let fromCheckout: Run
beforeAll(async () => {
  if (modules === undefined) return
  folder = mkdtempSync(join(tmpdir(), 'published-'))
  registry = await startNpmRegistry(modules)
  const packages = await makePackages(join(folder, 'made'))
  fromCheckout = await inFolder(
    folder,
    'npm install --global --prefix checkout --install-links ./made/*',
  )
  for (const made of packages) {
    const { code, stderr } = await inFolder(folder, `npm publish ${made.folder}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/npm warn/) })
  }
  stack = await startStack()
  publicId = (await stack.issue(ADA)).body.data.publicId
  readme = readPage('docs/npm/document-registry.md').blocks
})
afterAll(async () => {
  await registry?.stop()
  await stack?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** Runs a line as users do, with npm and Node of this machine and the registry of this test. */
function inFolder(cwd: string, line: string, env = {}, stdin = ''): Promise<Run> {
  return run('sh', ['-euc', line], { cwd, env: { ...registry.env, ...env }, stdin })
}

/** @returns An empty project that has installed these packages, with `document.txt`. */
async function project(name: string, ...packages: string[]): Promise<string> {
  const made = join(folder, name)
  mkdirSync(made)
  await expectDone(inFolder(made, `npm install ${packages.join(' ')}`))
  writeFileSync(join(made, 'document.txt'), `${publicId}\n`)
  return made
}

async function expectDone(running: Promise<Run>): Promise<string> {
  const { code, stdout, stderr } = await running
  expect(code, stdout + stderr).toBe(0)
  return stdout
}

/** @returns A block of the README, with the real addresses instead of the examples'. */
function example(has: string): string {
  const found = readme.filter(({ code }) => code.includes(has))
  expect(found, has).toHaveLength(1)
  return withRealAddresses(found[0]?.code ?? '')
}

function withRealAddresses(code: string): string {
  return code
    .replaceAll('https://rpc.two.example', stack.proxy.url)
    .replaceAll(/https:\/\/rpc(\.\w+)?\.example/g, stack.chainUrl)
    .replaceAll(/https:\/\/(ipfs|documents)\.example/g, stack.url)
    .replaceAll('eip155:1:0x…', stack.registry)
}

describe.skipIf(modules === undefined)('published', () => {
  test('ES modules give a verdict after the install', async () => {
    const started = performance.now()
    const esm = await project('esm', 'document-registry')
    writeFileSync(join(esm, 'verify.mjs'), example('createQuorumReader(readers'))
    const told = await expectDone(inFolder(esm, example('node verify.mjs')))
    console.log(`${Math.round(performance.now() - started)} ms from npm install to the verdict`)
    expect(told).toMatch(/^valid \{[\s\S]*Ada Lovelace/)
  })

  test('CommonJS gives a verdict', async () => {
    const cjs = await project('cjs', 'document-registry')
    writeFileSync(join(cjs, 'verify.cjs'), example('= require('))
    expect(await expectDone(inFolder(cjs, 'node verify.cjs'))).toBe('valid\n')
  })

  test.each(['nodenext', 'bundler'])('strict TypeScript, %s', async (resolution) => {
    const typed = await project(`ts-${resolution}`, 'document-registry', 'typescript@7.0.2')
    writeFileSync(join(typed, 'verify.ts'), example('type Verdict'))
    const module = resolution === 'bundler' ? 'esnext' : resolution
    const options = `--strict --exactOptionalPropertyTypes --module ${module} --moduleResolution ${resolution} --target es2022 --lib es2022,dom`
    await expectDone(inFolder(typed, `npm pkg set type=module && npx tsc ${options} verify.ts`))
    const use = `node -e 'require("./verify.js").check("${publicId}").then((v) => console.log(v.status))'`
    expect(await expectDone(inFolder(typed, use))).toBe('valid\n')
  })

  describe('docreg', () => {
    let blocks: Block[]
    let empty: string
    beforeAll(() => {
      blocks = readPage('docs/npm/docreg.md').blocks
      empty = join(folder, 'empty')
      mkdirSync(empty)
    })

    /** The README's commands, with `npx` instead of an installation. */
    const commands = (has: string) => {
      const found = blocks.filter(({ code }) => code.includes(has))
      expect(found, has).toHaveLength(1)
      return withRealAddresses(found[0]?.code ?? '').replaceAll(/^docreg /gm, 'npx --yes docreg ')
    }

    test('issues and prints with npx', async () => {
      const line = commands('drk_…').replace('drk_…', API_KEY)
      // Engine and fonts stay installed.
      const told = await expectDone(inFolder(empty, line, { XDG_CACHE_HOME: cacheFolder('..') }))
      expect(told).toMatch(/Issued 1 document/)
      expect(readdirSync(join(empty, 'issued/certificates'))).toEqual([
        expect.stringMatching(/pdf$/),
      ])
    })

    test('verifies with npx', async () => {
      const line = commands('letter.jpg').replace('letter.jpg', 'issued/qr/*.png')
      expect(await expectDone(inFolder(empty, line))).toMatch(/^VALID: issued, not revoked/)
      const printed = line.replace('qr/*.png', 'certificates/*.pdf')
      expect(await expectDone(inFolder(empty, printed))).toMatch(/^VALID: issued, not revoked/)
    })

    test('is installed from a checkout, unpublished', async () => {
      expect(fromCheckout.code, fromCheckout.stderr).toBe(0)
      const { stdout } = await inFolder(folder, 'checkout/bin/docreg --version')
      expect(stdout).toBe(`${manifest.version}\n`)
    })

    test('is installed without another copy of the library', async () => {
      const used = await project('command', 'docreg', 'document-registry')
      const { stdout } = await inFolder(used, 'npm ls --all --parseable')
      expect(stdout.match(/node_modules\/document-registry$/gm)).toHaveLength(1)
      expect(await expectDone(inFolder(used, 'npx docreg --version'))).toMatch(/^\d/)
    })
  })
})

type Skip = (reason: string) => void
const platform = `${process.platform}-${process.arch}`

const PAGES = [
  ['Vite', 'vite@8.3.8', 'npx vite build'],
  ['esbuild', 'esbuild@0.28.2', 'npx esbuild'],
] as const

describe.skipIf(modules === undefined)('published, in a browser', () => {
  describeInBrowser('Chromium', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchChromium()
    })
    afterAll(() => browser?.close())

    test.each(PAGES)('a page of %s gives a verdict', async (name, bundler, command) => {
      const built = await project(name, 'document-registry', bundler)
      writeFileSync(join(built, 'page.js'), example('location.hash'))
      writeFileSync(join(built, 'index.html'), example('<!doctype html>'))
      await expectDone(inFolder(built, example(command)))
      const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' }
      const site = await serveHttp(({ url = '' }, response) => {
        const file = join(built, 'dist', url === '/' ? 'index.html' : url)
        const type = types[extname(file)]
        if (type === undefined || !existsSync(file)) response.writeHead(404).end()
        else response.setHeader('content-type', type).end(readFileSync(file))
      })
      try {
        const page = await browser.newPage()
        await page.goto(`${site.url}/#${publicId}`)
        await page.waitForFunction(() => document.body.textContent.trim() !== '')
        expect((await page.textContent('body'))?.trim()).toBe('valid')
      } finally {
        await site.close()
      }
    })
  })
})

/** Other runtimes: their package for this machine, and the program in it. */
const RUNTIMES = [
  [
    'Deno',
    `@deno/${platform}-glibc`,
    '2.9.6',
    'deno run --quiet --allow-net --allow-read --allow-env',
  ],
  ['Bun', `@oven/bun-${platform}`, '1.4.5', 'bin/bun'],
] as const
const MANAGERS = [
  ['pnpm', '12.21.0', 'bin/pnpm.mjs', 'add'],
  ['yarn', '1.22.22', 'bin/yarn.js', 'add'],
] as const
/** The oldest that are supported, and the newest. The pinned 24 runs the other tests. */
const NODES = ['20.19.0', '22.12.0', '26.10.0']
/** Node 18 is too old, and has to say so. */
const TOO_OLD = '18.20.8'

describe.skipIf(modules === undefined)(
  'published, with other runtimes and package managers',
  () => {
    let esm: string
    let docreg: string
    beforeAll(async () => {
      esm = await project('each', 'document-registry', 'docreg')
      writeFileSync(join(esm, 'verify.mjs'), example('createQuorumReader(readers'))
      writeFileSync(join(esm, 'verify.cjs'), example('= require('))
      docreg = join(esm, 'node_modules/.bin/docreg')
    })

    /** @returns The path of a program in a package; skips the test where npm cannot install it. */
    async function programOf(skip: Skip, name: string, version: string, path: string) {
      const found = await npmTools({ [name]: version })
      if (found === undefined) skip(`needs ${name}`)
      return join(found ?? '', name, path)
    }
    const nodeOf = (skip: Skip, version: string) =>
      programOf(skip, `node-${platform}`, version, 'bin/node')
    const npmOf = (skip: Skip, version: string) => programOf(skip, 'npm', version, 'bin/npm-cli.js')

    test.for(NODES)('Node %s', async (version, { skip }) => {
      const node = await nodeOf(skip, version)
      expect(await expectDone(inFolder(esm, `${node} verify.mjs`))).toMatch(/^valid /)
      expect(await expectDone(inFolder(esm, `${node} verify.cjs`))).toBe('valid\n')
      const line = `${node} ${docreg} verify - --registry ${stack.registry} --rpc ${stack.chainUrl} --ipfs ${stack.url}`
      expect(await expectDone(inFolder(esm, line, {}, publicId))).toMatch(/^VALID/)
    })

    test.for(RUNTIMES)('%s', async ([, name, version, program], { skip }) => {
      const line = `${await programOf(skip, name, version, program)} verify.mjs`
      expect(await expectDone(inFolder(esm, line))).toMatch(/^valid /)
    })

    test.for(MANAGERS)('%s installs both', async ([name, version, program, add], { skip }) => {
      const other = join(folder, name)
      mkdirSync(other)
      writeFileSync(join(other, 'package.json'), '{}')
      const line = `${process.execPath} ${await programOf(skip, name, version, program)} ${add}`
      await expectDone(inFolder(other, `${line} document-registry docreg`))
      writeFileSync(join(other, 'verify.cjs'), example('= require('))
      writeFileSync(join(other, 'document.txt'), publicId)
      expect(await expectDone(inFolder(other, 'node verify.cjs'))).toBe('valid\n')
      const told = await expectDone(inFolder(other, 'node_modules/.bin/docreg --version'))
      expect(told).toBe(`${manifest.version}\n`)
    })

    test('npm 6 installs both', async ({ skip }) => {
      const old = join(folder, 'npm-6')
      mkdirSync(old)
      const [node, cli] = [await nodeOf(skip, '20.19.0'), await npmOf(skip, '6.14.18')]
      const line = `${node} ${cli} install --no-audit document-registry docreg`
      const { code, stderr } = await inFolder(old, line)
      // This is how it says that a dependency needs a newer Node.
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringMatching(/notsup/) })
      writeFileSync(join(old, 'verify.cjs'), example('= require('))
      writeFileSync(join(old, 'document.txt'), `${publicId}\n`)
      expect(await expectDone(inFolder(old, `${node} verify.cjs`))).toBe('valid\n')
      const version = await expectDone(inFolder(old, `${node} node_modules/.bin/docreg --version`))
      expect(version).toBe(`${manifest.version}\n`)
    })

    test('npm and the programs report that Node is too old', async ({ skip }) => {
      const [node, cli] = [await nodeOf(skip, TOO_OLD), await npmOf(skip, '10.9.4')]
      const installed = await inFolder(esm, `${node} ${cli} install --prefer-offline docreg`)
      expect(installed.stderr).toMatch(
        /EBADENGINE +required: \{ node: '\^20\.19\.0 \|\| >=22\.12\.0' \}/,
      )
      expect(await inFolder(esm, `${node} ${docreg} --version`)).toMatchObject({
        code: 64,
        stderr: `docreg requires Node 20.19, 22.12 or newer; this is Node ${TOO_OLD}\n`,
      })
      const required = await inFolder(esm, `${node} verify.cjs`)
      expect(required.stderr).toMatch(/require\(\) of ES Module .* not supported/)
      const imported = await inFolder(esm, `${node} verify.mjs`)
      expect(imported.stdout).toBe('unverifiable null\n')
      expect(imported.stderr).toMatch(/^Error: WebCrypto is missing: Node 20\.19 or newer has it/)
    })
  },
)
