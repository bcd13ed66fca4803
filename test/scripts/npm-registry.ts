import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/http.ts'
import { npm } from './npm.ts'
import { npmTools } from './npm-tools.ts'

/** A real npm registry on loopback, which has what is published here, and fetches all else. */
export type NpmRegistry = {
  url: string
  /** The complete environment of an npm that uses this registry alone, with an empty cache. */
  env: Record<string, string>
  stop(): Promise<void>
}

/** @returns The `node_modules` of verdaccio; `undefined` on a machine that cannot install it. */
export const verdaccio = (): Promise<string | undefined> =>
  // A plugin of it that is not used wants a version that not every registry has.
  npmTools({ verdaccio: '6.10.4' }, { 'node-fetch': '2.7.0' })

export async function startNpmRegistry(modules: string): Promise<NpmRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'npm-registry-'))
  const [port, upstream] = [await freePort(), await npm(['config', 'get', 'registry'], folder)]
  const url = `http://127.0.0.1:${port}`
  const everybody = { access: '$all', publish: '$all' }
  const ours = { 'document-registry': everybody, docreg: everybody }
  const config = join(folder, 'config.yaml')
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({
      storage: join(folder, 'storage'),
      web: { enable: false },
      auth: { htpasswd: { file: join(folder, 'users') } },
      uplinks: { machine: { url: upstream.trim(), timeout: '60s', maxage: '1h' } },
      packages: { ...ours, '**': { access: '$all', proxy: 'machine' } },
      log: { type: 'stdout', format: 'pretty', level: 'warn' },
    }),
  )
  const home = join(folder, 'home')
  mkdirSync(home)
  // npm publishes only with a token; this registry accepts any.
  const npmrc = [
    `registry=${url}/`,
    `//127.0.0.1:${port}/:_authToken=none`,
    'update-notifier=false',
  ]
  writeFileSync(join(home, '.npmrc'), `${npmrc.join('\n')}\n`)
  const program = join(modules, 'verdaccio/bin/verdaccio')
  const child = spawn(process.execPath, [program, '--config', config, '--listen', url], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output = (output + chunk).slice(-5000)
    })
  const ended = once(child, 'exit')
  const answers = () =>
    fetch(`${url}/-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`verdaccio ended: ${output}`)
    await sleep(100)
  }
  return {
    url,
    env: { HOME: home, PATH: process.env.PATH ?? '' },
    async stop() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
