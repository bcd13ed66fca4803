// A bare Hono server that answers a POST with what it was sent: the ceiling of any gateway on this
// machine.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.get('/readyz', (c) => c.text('ready'))
app.post('/v1/documents', async (c) => c.json(await c.req.json()))
serve({ fetch: app.fetch, port: Number(process.env.PORT) })
