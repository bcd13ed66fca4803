import type { Options } from '../command.ts'
import { UsageError } from '../errors.ts'

/** The option of all commands that read a chain. */
export const NETWORK = {
  value: '<name>',
  about: 'a network of hardhat.config.ts, such as sepolia, or custom with CUSTOM_RPC_URL',
} as const
export const REGISTRY = {
  value: '<address>',
  about: 'the registry; default the only one on the chain in deployments/',
} as const

export const DEPLOY_OPTIONS = {
  network: NETWORK,
  admin: {
    value: '<address>',
    about: 'who registers issuers, a multi-signature wallet; default the payer',
  },
  'admin-delay': {
    value: '<seconds>',
    about:
      'how long a new admin or a proposed account waits before it may accept; default two days',
  },
  'allow-plain-admin': { about: 'allow an admin that is a plain key' },
  send: { about: 'deploy; without it nothing is sent' },
  adopt: { about: 'record a registry that is already deployed' },
  block: { value: '<number>', about: 'the block of its creation, for --adopt' },
  verify: { about: 'publish the source at Etherscan' },
} as const satisfies Options

export const ROLES_OPTIONS = {
  network: NETWORK,
  registry: REGISTRY,
  as: { value: '<address>', about: 'the account of the issuer that makes the call' },
  send: { about: "send it with the network's key; without it the call is printed and simulated" },
} as const satisfies Options

/** @throws {UsageError} */
export function requireNetwork(name: string | undefined): string {
  if (name !== undefined) return name
  throw new UsageError('--network <name> is required; hardhat.config.ts lists the names')
}
