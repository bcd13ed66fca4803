import { defineCommand } from '../../command.ts'
import { inCheckout } from '../../registry/checkout.ts'
import { NETWORK, REGISTRY } from '../../registry/options.ts'

export const registryCheckCommand = defineCommand({
  name: 'registry check',
  group: 'Operate',
  summary:
    "Compare a deployed registry with this commit's build or a release, and list who may do what",
  options: {
    network: NETWORK,
    registry: REGISTRY,
    release: { value: '<folder>', about: 'compare with the files of a release' },
  },
  examples: [
    ['The registry of a network', 'docreg registry check --network sepolia'],
    ['With a release', 'docreg registry check --network sepolia --release dist/release'],
  ],
  exitCodes: '0 equal, 1 different, 2 could not be compared',
  run: async ({ values }, terminal) =>
    (await inCheckout(() => import('../../registry/check.ts'))).check(values, terminal),
})
