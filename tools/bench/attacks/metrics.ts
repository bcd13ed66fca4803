import { METHODS } from 'node:http'
import { type Attack, client, flood } from './attack.ts'

/** Makes labels with every method on every path, then scrapes without a pause. */
export const metrics: Attack = {
  name: 'metrics',
  async start({ url }) {
    const send = client(url)
    const description = await (await fetch(`${url}/openapi.json`)).json()
    const paths = Object.keys((description as { paths: object }).paths)
    const headers = { authorization: 'Bearer nobodys' }
    for (const path of paths.map((one) => one.replaceAll(/[{}]/g, '')))
      for (const method of METHODS)
        if (method !== 'CONNECT') await send(path, { method, headers }).catch(() => {})
    return flood({ atOnce: 20 }, (number) => send(number % 2 === 0 ? '/metrics' : '/readyz'))
  },
}
