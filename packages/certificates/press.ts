import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { CertificateError } from './errors.ts'
import { isInstalled } from './packs.ts'
import { createPool, type Pool } from './pool.ts'
import type { Certificate } from './print.ts'
import { readSettings } from './settings.ts'
import { findTemplate, TEMPLATES } from './template.ts'

/** After this time, a process that prints nothing ends. */
const IDLE_MS = 60_000
/** A service gives up earlier than a command, because a person waits. */
const JOB_TIMEOUT_MS = 30_000

/** Prints certificates for a service, in a process for each template that is in use. */
export type Press = {
  /** The names of the templates. */
  templates: readonly string[]
  /** Whether the engine is installed, which may change at any time. */
  isReady(): boolean
  /** @throws {CertificateError} for this certificate only; `no_engine`. */
  print(template: string, certificate: Certificate): Promise<Buffer>
  /** Ends the processes; unfinished certificates fail. */
  close(): void
}

/**
 * @param cache The folder with the engine. Nothing is installed there.
 * @param folder Has a folder for each template of the issuer, whose fonts are in its folder
 * `fonts`; absent = the templates of `docreg`, with words of an office that does not exist.
 * @throws {CertificateError} `bad_template`
 */
export function openPress(cache: string, folder: string | undefined): Press {
  const pools = new Map(templatesIn(folder).map(([name, path]) => [name, openPool(path, cache)]))
  return {
    templates: [...pools.keys()],
    isReady: () => isInstalled('base', cache),
    async print(template, certificate) {
      const pool = pools.get(template)
      if (pool === undefined)
        throw new CertificateError('bad_template', 'there is no template of this name')
      return pool.print(certificate)
    },
    close() {
      for (const pool of pools.values()) pool.close()
    },
  }
}

/** @returns The templates, by name. */
function templatesIn(folder: string | undefined): [name: string, path: string][] {
  if (folder === undefined) return TEMPLATES.map((name) => [name, findTemplate(name)])
  return readFolders(folder).map((name) => [name, findTemplate(join(folder, name))])
}

function readFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort()
  } catch (cause) {
    throw new CertificateError('bad_template', `${folder} cannot be read`, cause)
  }
}

function openPool(template: string, cache: string): Pool {
  const fonts = join(template, 'fonts')
  return createPool({
    template,
    settings: readSettings(template),
    fontPaths: existsSync(fonts) ? [fonts] : [],
    cache,
    // The environment of a service has secrets.
    env: {},
    workers: 1,
    jobTimeoutMs: JOB_TIMEOUT_MS,
    idleMs: IDLE_MS,
  })
}
