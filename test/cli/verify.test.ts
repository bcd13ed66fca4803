import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docreg } from '../support/docreg.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'

let stack: Stack
let dir: string
let issued: { publicId: string; verifyUrl: string }
let asked: string[]
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-'))
  stack = await startStack()
  issued = (await stack.issue({ ...ADA, metadata: HOSTILE })).body.data
  asked = [
    ...['--rpc', stack.chainUrl, '--registry', stack.registry],
    ...['--ipfs', stack.url],
  ]
})
afterAll(async () => {
  await stack.stop()
  rmSync(dir, { recursive: true, force: true })
})

const HOSTILE = {
  note: 'line\nNOT VALID\u001b[2J\u009b31m\u202egnidaer',
  'key\u001b': 'x',
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}

const verify = (given: string, ...more: string[]) =>
  docreg(['verify', given, ...asked, ...more])

describe('what it takes', () => {
  test('default: a publicId', async () => {
    const { code, stdout, stderr } = await verify(issued.publicId)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^VALID/)
    for (const shown of [
      'Ada Lovelace',
      'Registry office of Testville',
      'https://testville.example',
      stack.registry,
    ])
      expect(stdout).toContain(shown)
    expect(stdout).not.toContain(issued.publicId)
  })

  test("behavior: the verify page's address, and files that hold either", async () => {
    for (const given of [
      issued.verifyUrl,
      file('id.txt', `${issued.publicId}\n`),
      file('address.txt', `${issued.verifyUrl}\r\n`),
    ])
      expect(await verify(given)).toMatchObject({ code: 0, stderr: '' })
  })

  test('behavior: standard input, so that no other user sees it', async () => {
    const options = { stdin: `${issued.publicId}\n` }
    const { code } = await docreg(['verify', '-', ...asked], options)
    expect(code).toBe(0)
  })

  test('behavior: the QR code that the service draws', async () => {
    const { body } = await stack.request(`/qr/${issued.publicId}?format=png`)
    const { code, stdout } = await verify(file('qr.png', body))
    expect(code).toBe(0)
    expect(stdout).not.toContain('Warning')
  })
})
