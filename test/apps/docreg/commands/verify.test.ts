import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32, deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { pixelsOf, readQrCodes } from '#cli/qr-image.ts'
import { readSubject } from '#cli/subject.ts'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { cidOf } from '#document/cid.ts'
import { choicesOf, createPresentation } from '#document/presentation.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { openDocument } from '#document/sealed.ts'
import { FINALITIES } from '#verifier/ports.ts'
import { credentialOf } from '../../../support/credentials.ts'
import { DOCREG, docreg, run } from '../../../support/docreg.ts'
import { bodyOf, serveHttp } from '../../../support/http.ts'
import { ADA, type Stack, startStack } from '../../../support/stack.ts'

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

let stack: Stack
let dir: string
let issued: { publicId: string; verifyUrl: string }
let asked: string[]
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-'))
  stack = await startStack()
  issued = (await stack.issue({ ...ADA, metadata: HOSTILE })).body.data
  asked = ['--rpc', stack.chainUrl, '--registry', stack.registry, '--ipfs', stack.url]
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

const image = (name: string) => fileURLToPath(new URL(`../images/${name}`, import.meta.url))

const verify = (given: string, ...more: string[]) => docreg(['verify', given, ...asked, ...more])

/** A white square as a PNG file: 1 bit for each pixel, the lines packed one like the other. */
function emptyPng(side: number): Buffer {
  const chunk = (name: string, content: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(name), content])
    return Buffer.concat([uint32(content.length), body, uint32(crc32(body))])
  }
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return bytes
  }
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from([...uint32(side), ...uint32(side), 1, 0, 0, 0, 0])),
    chunk('IDAT', deflateSync(Buffer.alloc((side / 8 + 1) * side))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

describe('pictures that are too large', () => {
  const [width, height] = [Buffer.from([0x7d, 0x00]), Buffer.from([0xfa, 0x00])]
  const frame = Buffer.from([0xff, 0xff, 0xc2, 0, 11, 8, ...height, ...width])
  const comment = Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, 4, 0xff, 0xc0])

  test('reads the size of a PNG and of a JPEG file', () => {
    expect(pixelsOf(emptyPng(800))).toBe(640_000)
    expect(pixelsOf(readFileSync(image('photo.jpg')))).toBeGreaterThan(1e4)
    expect(pixelsOf(Buffer.concat([comment, frame]))).toBe(32_000 * 64_000)
  })

  test('refuses 144 million pixels in a few kilobytes', async () => {
    const bomb = emptyPng(12_000)
    expect(bomb.length).toBeLessThan(32_000)
    await expect(readQrCodes(bomb)).rejects.toThrow('too large')
  })

  test('refuses a picture without a size', () => {
    const png = emptyPng(8)
    png.write('CgBI', 12)
    for (const bytes of [png, png.subarray(0, 20), comment, Buffer.alloc(0)])
      expect(pixelsOf(bytes)).toBeUndefined()
  })
})

describe('input', () => {
  test('accepts a publicId', async () => {
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

  test("accepts a verify link, a QR code's address, and files that hold either", async () => {
    for (const given of [
      issued.verifyUrl,
      `https://testville.example/verify#${issued.publicId}`,
      `https://testville.example/qr/${issued.publicId}?format=png`,
      file('id.txt', `${issued.publicId}\n`),
      file('address.txt', `${issued.verifyUrl}\r\n`),
      `<${issued.verifyUrl}?utm_source=mail>.`,
      file('wrapped.txt', `See https://w.example/?url=${encodeURIComponent(issued.verifyUrl)}&x=1`),
      file('broken.txt', issued.verifyUrl.replace(/.{76}/g, '$&=\r\n')),
    ])
      expect(await verify(given)).toMatchObject({ code: 0, stderr: '' })
  })

  test('reads standard input, which hides the publicId from other users', async () => {
    for (const stdin of [`${issued.publicId}\n`, issued.verifyUrl]) {
      const { code } = await docreg(['verify', '-', ...asked], { stdin })
      expect(code).toBe(0)
    }
  })

  test('reads the QR code of the service', async () => {
    const { body } = await stack.request(`/qr/${issued.publicId}?format=png`)
    const { code, stdout } = await verify(file('qr.png', body))
    expect(code).toBe(0)
    expect(stdout).not.toContain('Warning')
  })

  test('reads a photo of a QR code, turned and half in shadow', async () => {
    expect(await readSubject(image('photo.jpg'))).toEqual({
      publicId: golden.documents[0]?.publicId,
      registryHint: golden.documents[0]?.document.registry,
    })
  })

  test('reads a QR code on a transparent background', async () => {
    const { publicId } = (await readSubject(image('transparent.png'))) as { publicId: string }
    expect(publicId).toMatch(/^7w73KDGaXHt8Cqg8jvCLUCNRNWUVfGCUofN4yVoUU69VH/)
  })

  test.each<[string, string, () => string | Promise<string>]>([
    ['a picture without a code', 'no_qr_code', () => image('no-code.jpg')],
    ['a GIF', 'no_qr_code', () => file('qr.gif', 'GIF89a')],
    ['a WebP', 'no_qr_code', () => file('qr.webp', 'RIFF\0\0\0\0WEBPVP8 ')],
    [
      'a picture that is cut off',
      'no_qr_code',
      () => file('cut.jpg', readFileSync(image('photo.jpg')).subarray(0, 500)),
    ],
    ['codes of different documents', 'several_qr_codes', () => image('two-codes.jpg')],
    ['an SVG', 'no_qr_code', () => file('qr.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['an address without a publicId', 'no_public_id', () => 'https://testville.example/verify'],
    [
      'two publicIds',
      'several_public_ids',
      () => file('two', `${issued.publicId} ${golden.documents[0]?.publicId}`),
    ],
    ['no such file', 'unreadable', () => join(dir, 'absent.png')],
    ['too large a file', 'unreadable', () => file('big', Buffer.alloc(2 ** 25))],
    ['a mistyped publicId', 'public_id_checksum', () => mistyped()],
    ['a file of something else', 'public_id_malformed', () => file('x', 'hello')],
    ['JSON that is not a bundle', 'bundle_malformed', () => file('j', '{"v":1}')],
  ])('%s', async (_, code, given) => {
    const human = await verify(await given())
    expect(human).toMatchObject({ code: 2, stdout: '' })
    expect(human.stderr.trim()).not.toBe('')
    const { code: exit, stdout } = await verify(await given(), '--json')
    expect(exit).toBe(2)
    expect(JSON.parse(stdout).error.code).toBe(code)
  })

  test('errors do not repeat input that may be close to a key', async () => {
    for (const more of [[], ['--json'], ['--rpc', 'x']]) {
      const { stdout, stderr } = await verify(mistyped(), ...more)
      expect(stdout + stderr).not.toContain(mistyped().slice(0, 20))
    }
  })

  const mistyped = () => {
    const { publicId } = issued
    return publicId.slice(0, -1) + (publicId.endsWith('2') ? '3' : '2')
  }
})

describe('output', () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
  const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

  test('text from others cannot control the terminal', async () => {
    for (const more of [[], ['--json']]) {
      const { stdout } = await verify(issued.publicId, ...more)
      expect(stdout).not.toMatch(UNSAFE)
      expect(stdout).toContain('\\u001b[2J')
      expect(stdout).not.toMatch(/^NOT VALID/m)
    }
  })

  test('prints the verdict of the library as JSON', async () => {
    const { stdout } = await verify(issued.publicId, '--json')
    const verdict = JSON.parse(stdout)
    expect(verdict).toMatchObject({
      valid: true,
      status: 'valid',
      warnings: [],
    })
    expect(verdict.document.metadata).toEqual(HOSTILE)
    expect(FINALITIES).toContain(verdict.blockchainProof.finality)
    expect(verdict.asOf.blockNumber).toBeGreaterThan(0)
  })

  test('prints the banner of a test network, also for a document that was never issued', async () => {
    const never = golden.documents[0]?.publicId ?? ''
    for (const [publicId, code, verdict] of [
      [issued.publicId, 0, 'VALID'],
      [never, 1, 'NOT VALID'],
    ] as const) {
      const human = await verify(publicId)
      expect(human.code).toBe(code)
      const [headline, banner] = human.stdout.split('\n')
      expect(headline).toMatch(new RegExp(`^${verdict}: `))
      expect(banner).toBe('Test network, or one not known to carry real documents')
      const { stdout } = await verify(publicId, '--json')
      expect(JSON.parse(stdout).network).toBe('test')
    }
  })

  test('reports a document dated in the future; the exit code follows the status', async () => {
    const ahead = new Date(Date.now() + 300 * 86_400_000)
    const issuedAt = ahead.toISOString().slice(0, 10)
    const future = (await stack.issue({ ...ADA, issuedAt })).body.data
    const { code, stdout } = await verify(future.publicId)
    expect(code).toBe(0)
    const [year, month, day] = issuedAt.split('-').map(Number)
    const name = MONTHS[(month ?? 0) - 1]
    expect(stdout).toMatch(/^VALID/)
    expect(stdout).toContain(`\nThis document is dated in the future: ${day} ${name} ${year}\n`)
    expect(stdout).toMatch(/fail +dating +in_future/)
    const never = await verify(issued.publicId)
    expect(never.stdout).not.toContain('in the future')
  })

  test('uses colour only in a terminal, and not with NO_COLOR', async () => {
    const onTerminal = async (env: Record<string, string>) => {
      const command = [process.execPath, DOCREG, 'verify', '-', ...asked]
      const { stdout } = await run(
        'script',
        ['-qec', `${command.join(' ')} < ${file('id', issued.publicId)}`, '/dev/null'],
        {
          env: { PATH: '/usr/bin:/bin', TERM: 'xterm-256color', ...env },
        },
      )
      return stdout
    }
    expect(await onTerminal({})).toContain('\u001b[32m')
    expect(await onTerminal({ NO_COLOR: '1' })).not.toContain('\u001b[')
  })

  test('warns of a QR code that names another registry', async () => {
    const other = issued.verifyUrl.replace(/0x.*/, `0x${'f0'.repeat(20)}`)
    const { code, stdout } = await verify(other)
    expect(code).toBe(0)
    expect(stdout).toMatch(/Warning: .*0xf0f0.*/)
    expect(stdout).toContain(stack.registry)
    const mangled = await verify(`${issued.verifyUrl}.`)
    expect(mangled.stdout).toContain(stack.registry)
    expect(mangled.stdout).not.toContain('Warning')
  })

  test('a reader that closes the pipe early does not change the exit code', async () => {
    const command = [process.execPath, DOCREG, 'verify', '-', ...asked]
    const { stdout, stderr } = await run('bash', [
      '--norc',
      '-c',
      `${command.join(' ')} < ${file('id', issued.publicId)} | true; echo "exit \${PIPESTATUS[0]}"`,
    ])
    expect({ stdout, stderr }).toEqual({ stdout: 'exit 0\n', stderr: '' })
  })

  test('prints help', async () => {
    for (const args of [
      ['help', 'verify'],
      ['verify', '--help'],
      ['bundle', '--help'],
    ]) {
      const { code, stdout } = await docreg(args)
      expect(code).toBe(0)
      expect(stdout).toContain('--registry')
    }
  })
})

describe('a credential', () => {
  /** A credential of the issued document, as a wallet's file. */
  async function credentialFile(): Promise<string> {
    const { hash, documentKey } = decodePublicId(issued.publicId)
    const response = await fetch(`${stack.url}/ipfs/${cidOf(hash)}?format=raw`)
    const sealed = new Uint8Array(await response.arrayBuffer())
    const { publicId } = issued
    const choose = choicesOf(await openDocument(sealed, documentKey))
    const shown = await createPresentation({ publicId, sealed, choose })
    return file('credential.txt', `${credentialOf(shown)}\n`)
  }

  test('gives no verdict when the domain of its issuer cannot be asked', async () => {
    const path = await credentialFile()
    const { code, stdout } = await verify(path, '--json', '--no-identity')
    const { status, disclosed, checks } = JSON.parse(stdout)
    expect({ code, status }).toEqual({ code: 2, status: 'unverifiable' })
    expect(disclosed).toMatchObject({ subjectName: ADA.subjectName })
    expect(checks).toContainEqual({ check: 'credential', outcome: 'unknown', code: 'not_asked' })
  })

  test('--audience and --nonce are for credentials only', async () => {
    for (const option of ['--audience', '--nonce']) {
      const { code, stderr } = await verify(issued.publicId, option, 'x')
      expect(code).toBe(64)
      expect(stderr).toContain('require a credential')
    }
  })

  test('names a damaged credential', async () => {
    const path = file('damaged.txt', 'eyJhIjoxfQ.eyJhIjoxfQ.AA~')
    const { code, stdout } = await verify(path, '--json')
    expect(code).toBe(2)
    expect(JSON.parse(stdout).error.code).toBe('credential_malformed')
  })
})

describe('wrong usage exits with 64 and makes no request', () => {
  test.each<[string, string[]]>([
    ['nothing to verify', ['verify', '--rpc', 'http://127.0.0.1:1']],
    ['two documents', ['verify', 'a', 'b']],
    ['an unknown option', ['verify', 'a', '--rcp', 'http://127.0.0.1:1']],
    ['a malformed address', ['verify', 'a', '--rpc', 'localhost:8545']],
    [
      'a node that would agree with itself',
      ['verify', 'a', '--rpc', 'http://127.0.0.1:1', '--rpc', 'http://127.0.0.1:1/'],
    ],
    ['a malformed registry', ['verify', 'a', '--registry', '0x00']],
    ['a chain without a deployment', ['verify', 'a', '--registry', 'eip155:9']],
    ['a quorum of none', ['verify', 'a', '--quorum', '0']],
    ['a malformed time-out', ['verify', 'a', '--timeout', 'soon']],
    ['a malformed block', ['verify', 'a', '--as-of', 'latest']],
    ['a malformed hash', ['verify', 'a', '--block-hash', '0x12']],
  ])('%s', async (_, args) => {
    const { code, stdout, stderr } = await docreg(
      args.includes('--registry')
        ? args
        : [...args, ...(args.length > 1 ? ['--registry', REGISTRY] : [])],
    )
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
    expect(stderr).toContain('docreg verify')
  })

  test('refuses a chain whose registry is not known', async () => {
    const { code, stderr } = await docreg([
      'verify',
      issued.publicId,
      '--registry',
      'eip155:31337',
      '--rpc',
      stack.chainUrl,
    ])
    expect(code).toBe(64)
    expect(stderr).toContain('--registry')
  })

  test('refuses zero nodes, and a quorum larger than the number of nodes', async () => {
    const given = [issued.publicId, '--registry', stack.registry]
    expect((await docreg(['verify', ...given])).code).toBe(64)
    expect((await verify(issued.publicId, '--quorum', '2')).code).toBe(64)
  })

  test('accepts a block hash only for a bundle', async () => {
    const hash = `0x${'1'.repeat(64)}`
    const { code, stdout } = await verify(issued.publicId, '--block-hash', hash)
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
  })

  const REGISTRY: RegistryId = `eip155:1:0x${'0'.repeat(40)}`
})

describe('several nodes', () => {
  const DOWN = ['--rpc', 'http://127.0.0.1:1']
  const DOWN_TOO = ['--rpc', 'http://127.0.0.1:2']
  const more = () => ['--rpc', `${stack.url}/rpc`]

  test('requires more than half to agree', async () => {
    expect((await verify(issued.publicId, ...DOWN)).code).toBe(2)
    expect((await verify(issued.publicId, ...DOWN, ...more())).code).toBe(0)
    expect((await verify(issued.publicId, ...DOWN, ...DOWN_TOO, ...more())).code).toBe(2)
  })

  test('accepts --quorum', async () => {
    const quorum = (n: string) => verify(issued.publicId, ...DOWN, ...more(), '--quorum', n)
    expect((await quorum('1')).code).toBe(0)
    expect((await quorum('3')).code).toBe(2)
  })
})

test('gives no verdict with a stale node, unless any age is accepted', async () => {
  const record = [1, 5, 1_700_000_000, 0, 0, 0, 0, 0, false]
  const account = [`0x${'1'.repeat(40)}`, 1, 3, 4, 0, 0, 0]
  const none = [`0x${'0'.repeat(40)}`, 0, 0, 0, 0, 0, 0]
  const issuer = ['', '', 1, 0, 2, 3, 0]
  const answer = [1, 9, 1_700_000_000, 1, record, account, none, issuer]
  const node = await serveHttp(async (request, response) => {
    const { id, method } = JSON.parse(await bodyOf(request))
    const result =
      method === 'eth_call' ? registryAbi.encodeFunctionResult('verificationOf', [answer]) : []
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  const told = (...options: string[]) => toldOf(1, ...options)
  const toldOf = (chainId: number, ...options: string[]) =>
    docreg([
      'verify',
      issued.publicId,
      '--rpc',
      node.url,
      '--registry',
      `eip155:${chainId}:0x${'a'.repeat(40)}`,
      ...options,
    ])
  const chainCheck = async (...options: string[]) => {
    const { network, checks } = JSON.parse((await told('--json', ...options)).stdout)
    expect(network).toBe('live')
    return checks[0].code
  }
  try {
    expect(await chainCheck()).toBe('head_stale')
    expect(await chainCheck('--max-head-age', '999999999')).toBe('read')
    expect((await told()).stdout).not.toContain('Test network')
    // A chain that nobody knows, until the reader names it.
    const banner = 'Test network, or one not known to carry real documents'
    expect((await toldOf(987654321)).stdout).toContain(banner)
    expect((await toldOf(987654321, '--live-chain', '5')).stdout).toContain(banner)
    expect((await toldOf(987654321, '--live-chain', '987654321')).stdout).not.toContain(banner)
    const local = await toldOf(31337, '--live-chain', '31337')
    expect([local.code, local.stderr]).toEqual([64, expect.stringContaining('--live-chain must')])
  } finally {
    await node.close()
  }
})
