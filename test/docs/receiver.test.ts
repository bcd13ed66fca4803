import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { freePort } from '../support/http.ts'
import { readPage, root } from './markdown.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

test('the receiver of the manual accepts a signed event, and processes it once', async () => {
  const { blocks } = readPage('docs/integrate.md')
  const code = blocks.find(
    ({ language, code }) => language === 'js' && code.includes('webhook.verify'),
  )
  const port = String(await freePort())
  const receiver = spawn(process.execPath, ['--input-type=module', '-e', code?.code ?? ''], {
    cwd: root,
    env: { WEBHOOK_SECRET: SECRET, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  receiver.stdout.on('data', (chunk) => {
    printed += chunk
  })
  try {
    const issued = { id: 'evt_1_1', type: 'document.issued', data: { documentHash: '0x00' } }
    const revoked = { id: 'evt_1_2', type: 'batch.revoked', data: { batchRoot: '0x01' } }
    const send = async (secret: string, event: { id: string } = issued) => {
      const body = JSON.stringify(event)
      const now = new Date()
      const headers = {
        'webhook-id': event.id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(event.id, now, body),
      }
      const url = `http://127.0.0.1:${port}/`
      const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
      return answer?.status
    }
    await expect.poll(() => send(SECRET)).toBe(204)
    expect(await send(SECRET)).toBe(204)
    expect(await send(`whsec_${Buffer.alloc(32, 8).toString('base64')}`)).toBe(401)
    expect(await send(SECRET, revoked)).toBe(204)
    expect(printed).toBe('document.issued 0x00\nbatch.revoked 0x01\n')
  } finally {
    receiver.kill()
    await once(receiver, 'exit')
  }
})
