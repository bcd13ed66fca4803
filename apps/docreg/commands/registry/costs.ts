import { defineCommand } from '../../command.ts'
import { inCheckout } from '../../registry/checkout.ts'

export const registryCostsCommand = defineCommand({
  name: 'registry costs',
  group: 'Operate',
  summary: 'Count what a year of issuing costs, by the gas of the contract',
  options: {
    gwei: { value: '<number>', about: 'the price of one gas; default 2' },
    coin: {
      value: '<number>',
      about: "the price of the chain's coin in your currency; default 3000",
    },
    documents: { value: '<number>', about: 'documents per year; default three examples' },
  },
  examples: [
    ['At 2 gwei and 3,000 for the coin', 'docreg registry costs'],
    ['For 20,000 documents a year', 'docreg registry costs --documents 20000 --gwei 0.02'],
  ],
  exitCodes: '0 counted, 2 could not be counted',
  run: async ({ values }, terminal) =>
    (await inCheckout(() => import('../../registry/costs.ts'))).costs(values, terminal),
})
