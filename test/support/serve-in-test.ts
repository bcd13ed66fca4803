import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { serveHttp } from './http.ts'

/** Serves until the test has finished. @returns Host and port. */
export async function serveInTest(listener: RequestListener): Promise<string> {
  const { url, close } = await serveHttp(listener)
  onTestFinished(close)
  return new URL(url).host
}
