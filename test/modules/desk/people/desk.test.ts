import { expect, test } from 'vitest'
import { deskUrlOf, invitationLinkOf } from '#modules/desk/people/desk.ts'

test.each([
  ['http://127.0.0.1:3000', 'http://localhost:3000/desk'],
  ['http://[::1]:3000', 'http://localhost:3000/desk'],
  ['http://localhost:3000', 'http://localhost:3000/desk'],
  ['http://192.0.2.1:3000', 'http://192.0.2.1:3000/desk'],
  ['https://documents.example', 'https://documents.example/desk'],
  ['https://documents.example/registry', 'https://documents.example/registry/desk'],
])('the desk of %s is at %s', (baseUrl, desk) => {
  expect(deskUrlOf(baseUrl)).toBe(desk)
  expect(invitationLinkOf(baseUrl, 'dri_x')).toBe(`${desk}#invitation=dri_x`)
})
