import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, matchesGlob, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { imageFiles } from '#scripts/image-files.ts'
import { readConfig } from '#settings/config.ts'
import manifest from '../../package.json' with { type: 'json' }
import { modulesOf } from '../support/imports.ts'

// What Dockerfile and compose files name exists. image.test.ts builds and runs the image.

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = 'deployments/docker'
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const dockerfile = read(`${FOLDER}/Dockerfile`)
const patterns = read(`${FOLDER}/Dockerfile.dockerignore`)
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const inImage = await imageFiles()

/** Whether the build sees the file: the last pattern that matches decides. */
function isSent(path: string): boolean {
  const last = patterns.findLast((line) => {
    const pattern = line.replace('!', '')
    return matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`)
  })
  return last === undefined || last.startsWith('!')
}

describe('Dockerfile', () => {
  test('the build sees every file of the image, and every script that it runs', () => {
    const scripts = [...dockerfile.matchAll(/node (scripts\/\S+)/g)].map(([, path = '']) => path)
    expect(scripts).toHaveLength(3)
    const needed = [
      ...inImage.filter((path) => !/^(node_modules|dist)\//.test(path)),
      ...scripts.flatMap((path) => [...modulesOf(path)]),
      ...globSync('{apps/page,modules/desk/page}/**/*.*', { cwd: ROOT }),
      'package.json',
      'package-lock.json',
    ]
    expect(needed.filter((path) => !isSent(path))).toEqual([])
  })

  test('the build sees no secrets, no data, and no installed files', () => {
    for (const path of ['gateway.env', 'keys/password'])
      expect(isSent(`${FOLDER}/${path}`), path).toBe(false)
    for (const path of [
      'gateway.env',
      'keys/gateway',
      'data/api-keys.json',
      'node_modules/x',
      'dist/x',
    ])
      expect(isSent(path), path).toBe(false)
  })

  test('each pattern of the ignore file matches something', () => {
    for (const line of patterns.slice(1))
      expect(globSync(line.replace('!', ''), { cwd: ROOT }), line).not.toEqual([])
  })

  test('the image has every file that its modules open by a relative path', () => {
    const own = inImage.filter((path) => /^(?!node_modules).*\.m?[jt]s$/.test(path))
    const opened = own.flatMap((path) =>
      [...read(path).matchAll(/(?<!\b(?:from|import) |import\()'(\.\.?\/[^'\n]+\.\w+)'/g)].map(
        ([, to = '']) => normalize(join(path, '..', to)),
      ),
    )
    expect(opened).toContain('apps/page/style.css')
    // Of the local chain, which the image does not have.
    const absent = [
      'packages/local-chain/thread-main.ts',
      'artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json',
    ]
    const missing = opened.filter((path) => !inImage.includes(path))
    expect(missing.toSorted()).toEqual(absent.toSorted())
  })

  test('the base image has the pinned Node', () => {
    expect(dockerfile).toContain(`\nARG BASE=node:${manifest.devDependencies.node}-`)
  })
})

type Service = {
  image: string
  build?: { context: string; dockerfile: string }
  environment: Record<string, string>
  env_file?: string
  volumes: string[]
  healthcheck?: object
  depends_on?: Record<string, object>
}
type Compose = {
  services: Record<string, Service>
  networks: { default: { ipam: { config: [{ subnet: string }] } } }
  volumes: Record<string, null>
}

const readCompose = (name: string): Compose => parse(read(`${FOLDER}/${name}`), { merge: true })
const all = (compose: Compose) => Object.values(compose.services)
const isOurs = ({ image }: Service) => image === 'document-registry'

/** What Compose puts into the place of a variable that must be set. */
const filledIn = (value: string) => value.replace(/\$\{(\w+):\?[^}]*\}/g, '$1')

describe.each([
  ['compose.yml', 'docs/go-live.md', 1],
  ['compose.gateways.yml', 'docs/operate.md', 2],
])('%s', (name, doc, gateways) => {
  const compose = readCompose(name)
  const ours = all(compose).filter(isOurs)
  const mounts = all(compose).flatMap(({ volumes }) => volumes.map((one) => one.split(':')))

  test('each gateway has a read-only root and no privileges', () => {
    expect(ours).toHaveLength(gateways)
    for (const gateway of ours)
      expect(gateway).toMatchObject({
        read_only: true,
        tmpfs: ['/tmp'],
        cap_drop: ['ALL'],
        init: true,
        security_opt: ['no-new-privileges:true'],
      })
  })

  test('every path, volume and service in it exists', () => {
    const sources = mounts.map(([source = '']) => source)
    const files = sources.filter((source) => source.startsWith('.') && source !== './keys')
    for (const path of files) expect(existsSync(join(ROOT, FOLDER, path)), path).toBe(true)
    for (const { build } of ours)
      expect(existsSync(join(ROOT, FOLDER, build?.context ?? '', build?.dockerfile ?? ''))).toBe(
        true,
      )
    const named = new Set(sources.filter((source) => !source.startsWith('.')))
    expect([...named].toSorted()).toEqual(Object.keys(compose.volumes).toSorted())
    for (const { depends_on = {} } of all(compose))
      for (const service of Object.keys(depends_on))
        expect(compose.services).toHaveProperty(service)
  })

  test('the gateway accepts its settings, and keeps data only in its volumes', () => {
    const example = read('deployments/gateway.env.example').matchAll(/^(\w+)=(.*)$/gm)
    const secret = { ISSUER_SECRET: `0x${'ab'.repeat(32)}` }
    const built = [...dockerfile.matchAll(/^ +(?:ENV )?(\w+)=(\S+)/gm)]
    for (const { environment, volumes } of ours) {
      const own = Object.entries(environment).map(([key, value]) => [key, filledIn(value)])
      const pairs = [...built, ...example].map(([, key, value]) => [key, value])
      const config = readConfig({ ...Object.fromEntries([...pairs, ...own]), ...secret })
      expect(config).toMatchObject({ host: '0.0.0.0', port: 3000, ipfsApiUrl: 'http://kubo:5001' })
      expect(config.databaseUrl).toBe(
        gateways > 1 ? 'postgres://registry:POSTGRES_PASSWORD@postgres/registry' : undefined,
      )
      const [{ subnet }] = compose.networks.default.ipam.config
      expect(config.trustedProxies).toEqual([subnet])
      const targets = volumes.map((one) => one.split(':')[1])
      const declared: string[] = JSON.parse(dockerfile.match(/^VOLUME (.*)$/m)?.[1] ?? '')
      expect(targets).toEqual(expect.arrayContaining(declared))
      for (const path of [config.dataDir, config.erasureList])
        expect(
          declared.filter((volume) => path.startsWith(`${volume}/`)),
          path,
        ).toHaveLength(1)
    }
  })

  test('gateways share no data folder', () => {
    const data = ours.map(({ volumes }) => volumes.find((one) => one.endsWith(':/data')))
    expect(new Set(data).size).toBe(gateways)
  })

  test('pins the versions of other images, the same in both files', () => {
    const images = [...new Set(all(compose).map(({ image }) => image))].filter(
      (image) => image !== 'document-registry',
    )
    for (const image of images) expect(image).toMatch(/:v?\d+\.\d+/)
    const both = ['compose.yml', 'compose.gateways.yml'].map(readCompose).flatMap(all)
    for (const image of images) {
      const same = both.filter((one) => one.image.split(':')[0] === image.split(':')[0])
      expect(same.map((one) => one.image)).toEqual(same.map(() => image))
    }
  })

  test('the documentation sets what it needs', () => {
    for (const [, variable = ''] of read(`${FOLDER}/${name}`).matchAll(/\$\{(\w+):\?/g))
      expect(read(doc)).toContain(`${variable}=`)
  })
})
