import { expect, test } from 'vitest'
import { createProvider } from '#verifier/readers/json-rpc.ts'

const answer = (text: string) => createProvider(async () => text).request({ method: 'eth_call' })

test('accepts any JSON as an answer, not only the strict JSON of this project', async () => {
  expect(await answer('{"result":1,"result":2}')).toBe(2)
  expect(await answer('{"id":"\\ud800","result":2}')).toBe(2)
  expect(await answer(`{"id":${'['.repeat(99)}${']'.repeat(99)},"result":2}`)).toBe(2)
  expect(await answer('{"result":null,"error":null}')).toBeNull()
})

test.each([
  '{"error":{"code":4444.0,"message":"pruned"}}',
  '{"error":{"code":4.444e3,"message":"pruned"},"result":null}',
])("%s is the node's error", async (text) => {
  await expect(answer(text)).rejects.toMatchObject({ code: 4444, message: 'pruned' })
})

test.each([
  '',
  'x',
  '[]',
  'null',
  '{"result":NaN}',
  '{}',
  '{"error":null}',
  '\ufeff{"result":2}',
  '{"result":2,"error":false}',
  '{"result":2,"error":{"code":1,"message":""}}',
  '{"error":"x"}',
  '{"error":{"code":1}}',
  '{"error":{"code":1.5,"message":""}}',
  '{"error":{"code":"1","message":""}}',
  '{"error":{"code":9007199254740992,"message":""}}',
])('%j is no answer', async (text) => {
  await expect(answer(text)).rejects.toMatchObject({ code: 'rpc_malformed' })
})
