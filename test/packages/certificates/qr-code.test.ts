import { expect, test } from 'vitest'
import { qrPng, qrSvg } from '#certificates/qr-code.ts'
import { readQrCodes } from '#cli/qr-image.ts'

const link = (i: number) =>
  `https://registry.example/verify#publicId=${'7w73KCx2eDtP1xVYN9Dqd38swsTEGmWn4rqntr5SvjA1'.repeat(2)}${i}`

test('draws PNG pictures that a scanner reads, small and large', async () => {
  for (const text of ['1', link(1), link(2), `${link(3)}&x=${'é'.repeat(300)}`])
    expect(await readQrCodes(qrPng(text, { ecc: 'medium', border: 4 }))).toEqual([text])
})

test('draws the same modules in both formats', () => {
  const options = { ecc: 'low', border: 2 } as const
  const side = qrPng(link(1), options).readUInt32BE(16) / 8
  const svg = qrSvg(link(1), options)
  expect(svg).toContain(`viewBox="0 0 ${side} ${side}"`)
  // The first row of the finder pattern at the upper left, after the quiet zone.
  expect(svg).toContain('M2 2h7v1h-7z')
})
