import { expect, test } from 'vitest'
import { REVOCATION_REASONS, reasonName } from '#verifier/reasons.ts'

test('names the reasons of RFC 5280, and any other code by its digits', () => {
  for (const [name, code] of Object.entries(REVOCATION_REASONS)) expect(reasonName(code)).toBe(name)
  expect([6, 8].map(reasonName)).toEqual(['certificateHold', 'removeFromCRL'])
  expect([7, 11, 255].map(reasonName)).toEqual(['7', '11', '255'])
})
