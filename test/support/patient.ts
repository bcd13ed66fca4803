import { setTimeout as sleep } from 'node:timers/promises'
import type { Eip1193Provider } from '#verifier/ports.ts'

/**
 * @returns A provider that waits until a receipt exists, because nodes other than the local chain
 * mine after they answer.
 */
export function patient(provider: Eip1193Provider): Eip1193Provider {
  return {
    async request(args) {
      for (;;) {
        const result = await provider.request(args)
        if (args.method !== 'eth_getTransactionReceipt' || result !== null) return result
        await sleep(20)
      }
    },
  }
}
