// What all tests give to gateways; by itself, for tests that do not load one.
import { randomBytes } from 'node:crypto'
import { type Hex, toHex } from '#document/hex.ts'

export const API_KEY = 'a-key-that-only-the-tests-have'
export const randomKey = (): Hex => toHex(randomBytes(32))

export const ADA = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
}
