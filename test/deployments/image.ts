import { execFile, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Run, run } from '../support/docreg.ts'

// Builds the image as `docker build` does, without Docker and without a published base image, and
// runs it.

const ROOT = join(import.meta.dirname, '../..')
const DOCKER = 'deployments/docker'
/** What an operator's checkout has besides: secrets and data, and a registry that was deployed. */
const BESIDES = [
  `${DOCKER}/gateway.env`,
  `${DOCKER}/keys/gateway`,
  'node_modules/bait',
  'data/bait',
  'deployments/1/0xab.json',
]
const call = promisify(execFile)

/** @returns Why this machine cannot build and run the image; `undefined` if it can. */
export function whyNoImage(): string | undefined {
  if (process.getuid?.() !== 0) return 'the image is built and run by root'
  const missing = ['buildah', 'mmdebstrap', 'runc'].filter((name) => spawnSync(name, ['-v']).error)
  if (missing.length === 0) return undefined
  return `the image needs more: apt-get install --no-install-recommends ${missing.join(' ')}`
}

export type ImageConfig = {
  User: string
  Env: string[]
  WorkingDir: string
  Entrypoint: string[]
  Cmd: string[]
  Volumes: Record<string, object>
  Healthcheck: { Test: string[] }
}

export type Image = {
  config: ImageConfig
  /** Its files, unpacked. */
  root: string
  /** As `buildah images` prints them, such as `293 MB`. */
  size: { base: string; whole: string }
}

/** @param folder Will have the image and all that it is made from. */
export async function buildImage(folder: string): Promise<Image> {
  const store = ['--storage-driver', 'vfs', '--root', join(folder, 'store')]
  const buildah = async (...args: string[]) => {
    const all = [...store, '--runroot', join(folder, 'buildah'), ...args]
    return (await call('buildah', all, { maxBuffer: 2 ** 26 })).stdout.trim()
  }
  const build = (...args: string[]) =>
    buildah('build', '--isolation', 'chroot', '--format', 'docker', '--layers=false', ...args)

  const tree = await baseTree(folder)
  const fromScratch = join(folder, 'Dockerfile')
  writeFileSync(fromScratch, 'FROM scratch\nCOPY . /\n')
  await build('-f', fromScratch, '-t', 'base', tree)

  const context = await checkout(folder)
  const file = join(context, DOCKER, 'Dockerfile')
  const { npmrc, volumes } = await npmOfMachine(folder)
  await build(
    '-f',
    file,
    '--build-arg',
    'BASE=localhost/base',
    '--secret',
    `id=npmrc,src=${npmrc}`,
    ...volumes,
    '-t',
    'gateway',
    context,
  )
  const sizeOf = (name: string) => buildah('images', '--format', '{{.Size}}', `localhost/${name}`)
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'gateway:latest'))
  return {
    config: Docker.config,
    root: await buildah('mount', await buildah('from', 'localhost/gateway')),
    size: { base: await sizeOf('base'), whole: await sizeOf('gateway') },
  }
}

/** A base image from Debian's packages, with Node and npm where the official one has them. */
async function baseTree(folder: string): Promise<string> {
  const tree = join(folder, 'base')
  const line = 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)'
  const targets = ['indextargets', '--format', line, 'Identifier: Packages', 'Origin: Debian']
  const { stdout: sources } = await call('apt-get', targets)
  if (sources === '') throw new Error('apt knows no packages of Debian: apt-get update')
  const options = ['--variant=essential', '--include=libstdc++6', '--format=directory']
  // The name of the suite is not needed where all sources are given.
  const made = await run('mmdebstrap', [...options, '', tree, '-'], {
    stdin: [...new Set(sources.split('\n'))].join('\n'),
    env: processEnv(),
  })
  if (made.code !== 0) throw new Error(made.stderr)
  const local = join(tree, 'usr/local')
  const npm = ['install', '--global', '--prefix', local, '--no-audit', '--no-fund', 'npm@11']
  await call('npm', npm)
  copyFileSync(process.execPath, join(local, 'bin/node'))
  appendFileSync(join(tree, 'etc/passwd'), 'node:x:1000:1000::/home/node:/bin/sh\n')
  appendFileSync(join(tree, 'etc/group'), 'node:x:1000:\n')
  return tree
}

function processEnv(): Record<string, string> {
  // biome-ignore lint/style/noProcessEnv: the settings of this machine's package clients.
  return { ...(process.env as Record<string, string>) }
}

/** A copy of the checkout as it is now. */
async function checkout(folder: string): Promise<string> {
  const context = join(folder, 'context')
  const listed = ['ls-files', '-co', '--exclude-standard', '-z']
  const { stdout } = await call('git', listed, { cwd: ROOT, maxBuffer: 2 ** 26 })
  for (const path of stdout.split('\0').filter((one) => one && existsSync(join(ROOT, one))))
    cpSync(join(ROOT, path), join(context, path))
  for (const path of BESIDES) {
    mkdirSync(dirname(join(context, path)), { recursive: true })
    writeFileSync(join(context, path), 'secret')
  }
  // As a clone under the umask of docs/go-live.md.
  await call('chmod', ['-R', 'go=', context])
  return context
}

/** How this machine's npm reaches its registry. */
async function npmOfMachine(folder: string) {
  const get = async (name: string) => (await call('npm', ['config', 'get', name])).stdout.trim()
  const cafile = await get('cafile')
  const certificates = cafile === 'null' ? processEnv().NODE_EXTRA_CA_CERTS : cafile
  const lines = [`registry=${await get('registry')}`]
  if (certificates !== undefined) lines.push(`cafile=${certificates}`)
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, `${lines.join('\n')}\n`)
  const mounts = certificates === undefined ? [] : [`${certificates}:${certificates}:ro`]
  return { npmrc, volumes: mounts.flatMap((mount) => ['--volume', mount]) }
}

/** A process of the image under runc. */
export type Container = {
  /** Resolves when it has ended. */
  ended: Promise<Run>
  isRunning(): boolean
  /** Runs a command beside it, as `docker exec` does. */
  exec(command: readonly string[]): Promise<Run>
  signal(name: 'KILL' | 'TERM'): Promise<Run>
}

let containers = 0

/**
 * As `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --network
 * host` does, without a seccomp profile and without limits.
 *
 * @param args Replace the image's CMD.
 * @param env Settings besides those of the image.
 * @param volumes The folder for each path.
 */
export function runImage(
  folder: string,
  { config, root }: Image,
  args: readonly string[],
  env: Record<string, string>,
  volumes: Record<string, string>,
): Container {
  const id = `document-registry-${process.pid}-${containers++}`
  const bundle = join(folder, id)
  const [uid, gid] = config.User.split(':').map(Number)
  mkdirSync(bundle)
  const spec = {
    ociVersion: '1.0.0',
    root: { path: root, readonly: true },
    process: {
      user: { uid, gid },
      cwd: config.WorkingDir,
      args: [...config.Entrypoint, ...(args.length > 0 ? args : config.Cmd)],
      env: [...config.Env, ...Object.entries(env).map((pair) => pair.join('='))],
      capabilities: {},
      noNewPrivileges: true,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      ...['/dev', '/tmp'].map((destination) => ({
        destination,
        type: 'tmpfs',
        source: 'tmpfs',
        options: ['nosuid', 'size=65536k'],
      })),
      ...Object.entries(volumes).map(([destination, source]) => ({
        destination,
        source,
        type: 'bind',
        options: ['rbind', 'rw'],
      })),
    ],
    linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
  }
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
  const runc = ['--root', join(folder, 'runc')]
  const child = spawn('runc', [...runc, 'run', '--bundle', bundle, id], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const result: Run = { code: null, stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text) => {
      result[name] += text
    })
  return {
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ ...result, code }))),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    exec: (command) => run('runc', [...runc, 'exec', id, ...command], { env: processEnv() }),
    signal: (name) => run('runc', [...runc, 'kill', id, name], { env: processEnv() }),
  }
}
