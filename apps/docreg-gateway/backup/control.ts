// Connects `docreg-gateway backup` with the gateway, because only the gateway can copy the files
// that it has locked. It uses HTTP over a Unix socket in the data folder (a named pipe on Windows),
// so that only this user can call it.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BackupError } from './contents.ts'

/** The maximum length of a socket's path on any system, in bytes. */
const MAX_PATH_BYTES = 100
const MAX_BODY_BYTES = 10_000

/** @returns The path at which the gateway of a data folder listens. */
function socketOf(dataDir: string): string {
  const path = join(dataDir, 'control.sock')
  const name = `document-registry-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`
  return Buffer.byteLength(path) <= MAX_PATH_BYTES ? path : join(tmpdir(), `${name}.sock`)
}

/**
 * Answers `docreg-gateway backup` while the gateway holds the lock of the data folder.
 *
 * @param dataDir An absolute path.
 * @param copy Copies database and chain into an existing folder. Returns the number of the chain's
 * newest block before the copy; `null` when the chain does not answer.
 * @returns A function that ends it.
 */
export async function listenForBackups(
  dataDir: string,
  copy: (folder: string) => Promise<number | null>,
): Promise<() => Promise<void>> {
  const path = socketOf(dataDir)
  // A killed gateway may have left the socket behind.
  if (process.platform !== 'win32') rmSync(path, { force: true })
  const server = createServer(async (incoming, response) => {
    try {
      const block = await copy(await bodyOf(incoming))
      response.end(JSON.stringify({ block }))
    } catch (error) {
      response.statusCode = 500
      response.end(error instanceof Error ? error.message : String(error))
    }
  })
  server.listen(path)
  await once(server, 'listening')
  server.unref()
  return async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/**
 * Asks the gateway of a data folder to copy its database and chain.
 *
 * @returns The number of the chain's newest block before the copy; `undefined` when no gateway
 * runs.
 * @throws {BackupError} with the reason why it could not copy.
 */
export function askForBackup(
  dataDir: string,
  folder: string,
): Promise<{ block: number | null } | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socketOf(dataDir), method: 'POST' })
    asked.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? resolve(undefined) : reject(error),
    )
    asked.once('response', (response) => {
      bodyOf(response).then(
        (text) =>
          response.statusCode === 200
            ? resolve(JSON.parse(text))
            : reject(new BackupError(`the service could not copy: ${text}`)),
        reject,
      )
    })
    asked.end(folder)
  })
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error('the request body is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
