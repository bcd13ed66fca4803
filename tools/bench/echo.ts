// A bare Hono server that echoes a POST: the upper bound for any gateway on this machine.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.get('/readyz', (c) => c.text('ready'))
app.post('/v1/documents', async (c) => c.json(await c.req.json()))
serve({ fetch: app.fetch, port: Number(process.env.PORT) })
