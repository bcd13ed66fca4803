import { defineCommand } from '../../command.ts'
import { inCheckout } from '../../registry/checkout.ts'
import { DEPLOY_OPTIONS } from '../../registry/options.ts'

export const registryDeployCommand = defineCommand({
  name: 'registry deploy',
  group: 'Operate',
  summary: 'Deploy the registry and its forwarder, or print what that would cost',
  about: [
    'Addresses and keys are configuration variables of Hardhat: docs/contract.md. The record is written to deployments/.',
  ],
  options: DEPLOY_OPTIONS,
  examples: [
    ['What it would cost', 'docreg registry deploy --network sepolia --admin 0x…'],
    ['Deploy it', 'docreg registry deploy --network sepolia --admin 0x… --send'],
  ],
  exitCodes: '0 deployed, recorded or only planned, 2 could not be done',
  run: async ({ values }, terminal) =>
    (await inCheckout(() => import('../../registry/deploy.ts'))).deploy(values, terminal),
})
