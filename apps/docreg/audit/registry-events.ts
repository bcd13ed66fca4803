import { keccak_256 } from '@noble/hashes/sha3.js'
import { decodeAnyUtf8, encodeUtf8 } from '#document/bytes.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { readHash, readLog, readObject, readQuantity } from '#verifier/readers/rpc-codec.ts'
import { toWord } from '#verifier/readers/verification-codec.ts'

// The events of the registry that an audit reads; see docs/contract.md, "Events".

/** The place of a log. */
type Place = { block: number; transactionHash: Hex }

/** `DocumentIssued` or `BatchIssued`. */
export type IssuedLog = Place & {
  key: Hex
  account: Hex
} & ({ kind: 'document'; validUntil: number } | { kind: 'batch'; size: number; manifest: Hex })

/** An event about an issuer or its accounts. */
export type AdminEvent = Place & {
  event: AdminEventName
  issuerId: number
  /** The account that the event concerns; `null` for an event about the issuer itself. */
  account: Hex | null
  /** The account that acted; `null` when an account accepts its own proposal. */
  by: Hex | null
  /** The new permissions. */
  permissions?: number
  /** When a proposed account may accept, in seconds of the Unix epoch. */
  acceptFrom?: number
  /** The block from which an account is distrusted. */
  fromBlock?: number
  name?: string
  uri?: string
}

const ISSUED = {
  document: topicOf('DocumentIssued(bytes32,uint32,address,uint40)'),
  batch: topicOf('BatchIssued(bytes32,uint32,address,uint40,bytes32)'),
}

const ADMIN_SIGNATURES = {
  issuer_registered: 'IssuerRegistered(uint32,string,string,address)',
  issuer_renamed: 'IssuerUpdated(uint32,string,string,address)',
  issuer_closed: 'IssuerClosed(uint32,address)',
  issuer_reopened: 'IssuerReopened(uint32,address)',
  account_added: 'AccountAdded(uint32,address,uint16,uint8,address)',
  permissions_changed: 'PermissionsChanged(uint32,address,uint8,address)',
  account_retired: 'AccountRetired(uint32,address,address)',
  account_distrusted: 'AccountDistrusted(uint32,address,uint40,address)',
  recovery_proposed: 'AccountProposed(uint32,address,uint40,address)',
  recovery_withdrawn: 'ProposalWithdrawn(uint32,address,address)',
  recovery_vetoed: 'ProposalVetoed(uint32,address,address)',
  recovery_accepted: 'ProposalAccepted(uint32,address)',
} as const
export type AdminEventName = keyof typeof ADMIN_SIGNATURES
export const ADMIN_EVENTS = Object.keys(ADMIN_SIGNATURES) as AdminEventName[]

const ADMIN = byTopic<AdminEventName>(ADMIN_SIGNATURES)

/** The events of OpenZeppelin's AccessControlDefaultAdminRules. */
const ROLE_SIGNATURES = {
  admin_transfer_scheduled: 'DefaultAdminTransferScheduled(address,uint48)',
  admin_transfer_canceled: 'DefaultAdminTransferCanceled()',
  admin_delay_change_scheduled: 'DefaultAdminDelayChangeScheduled(uint48,uint48)',
  admin_granted: 'RoleGranted(bytes32,address,address)',
  admin_revoked: 'RoleRevoked(bytes32,address,address)',
} as const
type RoleEventName = keyof typeof ROLE_SIGNATURES

/** An event about the role of the registry's admin. */
export type RoleEvent = Place & {
  event: RoleEventName
  /** The new or former admin; `null` for an event without an account. */
  account: Hex | null
  /** The account that acted; `null` if the event does not say, because only the admin can act. */
  by: Hex | null
  /** When the new admin may accept, or the new delay applies, in seconds of the Unix epoch. */
  acceptFrom?: number
  /** A new delay in seconds. */
  delay?: number
}

const ROLES = byTopic<RoleEventName>(ROLE_SIGNATURES)
const DEFAULT_ADMIN_ROLE = toWord(0)

function byTopic<Name extends string>(signatures: Record<Name, string>): Map<Hex, Name> {
  const entries = Object.entries<string>(signatures)
  return new Map(entries.map(([name, signature]) => [topicOf(signature), name as Name]))
}

function topicOf(signature: string): Hex {
  return toHex(keccak_256(encodeUtf8(signature)))
}

/** @returns The topics of the events for what an issuer issued. */
export function issuedTopics(issuerId: number): unknown[] {
  return [Object.values(ISSUED), null, toWord(issuerId)]
}

/** @returns The topics of the events about an issuer and its accounts. */
export function adminTopics(issuerId: number): unknown[] {
  return [[...ADMIN.keys()], toWord(issuerId)]
}

/** @returns The topics of the events about any issuer and about roles. */
export function everyAdminTopic(): unknown[] {
  return [[...ADMIN.keys(), ...ROLES.keys()]]
}

/** The request to which a log must belong. */
type Asked = { address: Hex; issuerId?: number | undefined }

/** @throws {FormatError} `rpc_malformed` for a log that was not requested. */
export function decodeIssuedLog(value: unknown, { address, issuerId }: Asked): IssuedLog {
  const { log, words, place } = readEvent(value, address)
  const [topic, key, issuer] = log.topics
  if (key === undefined || issuerId === undefined || issuer !== toWord(issuerId)) throw notAsked()
  const account = addressIn(words(0))
  const number = Number(words(1))
  if (topic === ISSUED.document)
    return { kind: 'document', key, account, validUntil: number, ...place }
  if (topic !== ISSUED.batch) throw notAsked()
  return { kind: 'batch', key, account, size: number, manifest: readHash(words(2)), ...place }
}

/** @throws {FormatError} `rpc_malformed` for a log that was not requested. */
export function decodeAdminLog(value: unknown, { address, issuerId }: Asked): AdminEvent {
  const { log, words, place } = readEvent(value, address)
  const [topic = '0x', issuer = '0x0', subject] = log.topics
  const event = ADMIN.get(topic)
  if (!event || (issuerId !== undefined && issuer !== toWord(issuerId))) throw notAsked()
  const about = {
    event,
    issuerId: Number(issuer),
    account: subject === undefined ? null : addressIn(subject),
    ...place,
  }
  const last = log.data.length > 2 ? (log.data.length - 2) / 64 - 1 : -1
  switch (event) {
    case 'issuer_registered':
    case 'issuer_renamed': {
      const data = fromHex(log.data)
      return { ...about, by: addressIn(words(2)), name: textIn(data, 0), uri: textIn(data, 1) }
    }
    case 'account_added':
      return { ...about, by: addressIn(words(2)), permissions: Number(words(1)) }
    case 'permissions_changed':
      return { ...about, by: addressIn(words(1)), permissions: Number(words(0)) }
    case 'account_distrusted':
      return { ...about, by: addressIn(words(1)), fromBlock: Number(words(0)) }
    case 'recovery_proposed':
      return { ...about, by: addressIn(words(1)), acceptFrom: Number(words(0)) }
    default:
      return { ...about, by: last < 0 ? null : addressIn(words(0)) }
  }
}

/**
 * @returns An event of {@link everyAdminTopic}; `undefined` for a role other than the admin's.
 * @throws {FormatError} `rpc_malformed` for a log that was not requested.
 */
export function decodeFollowedLog(
  value: unknown,
  address: Hex,
): AdminEvent | RoleEvent | undefined {
  const { log, words, place } = readEvent(value, address)
  const [topic = '0x', first, second, third] = log.topics
  const event = ROLES.get(topic)
  if (!event) return decodeAdminLog(value, { address })
  switch (event) {
    case 'admin_transfer_scheduled': {
      const acceptFrom = Number(words(0))
      return { event, account: addressOf(first), by: null, acceptFrom, ...place }
    }
    case 'admin_transfer_canceled':
      return { event, account: null, by: null, ...place }
    case 'admin_delay_change_scheduled': {
      const [delay, acceptFrom] = [Number(words(0)), Number(words(1))]
      return { event, account: null, by: null, delay, acceptFrom, ...place }
    }
    default:
      if (first !== DEFAULT_ADMIN_ROLE) return undefined
      return { event, account: addressOf(second), by: addressOf(third), ...place }
  }
}

function addressOf(topic: Hex | undefined): Hex {
  if (topic === undefined) throw malformed()
  return addressIn(topic)
}

function readEvent(value: unknown, address: Hex) {
  const log = readLog(value)
  if (log.address !== address) throw notAsked()
  const { blockNumber } = readObject(value)
  return {
    log,
    /** @returns A word of the data. If it is missing, the event is malformed. */
    words: (index: number): Hex => {
      const word = log.data.slice(2 + 64 * index, 2 + 64 * (index + 1))
      if (word.length !== 64) throw malformed()
      return `0x${word}`
    },
    place: { block: readQuantity(blockNumber), transactionHash: log.transactionHash },
  }
}

function addressIn(word: Hex): Hex {
  return `0x${word.slice(26)}`
}

/**
 * @returns A Solidity string, with U+FFFD in place of invalid UTF-8, because the admin can set any
 * bytes.
 * @param index The word that contains its offset.
 */
function textIn(data: Uint8Array, index: number): string {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const numberAt = (at: number) => {
    if (at < 0 || at + 32 > data.length) throw malformed()
    return view.getUint32(at + 28)
  }
  const start = numberAt(32 * index)
  const length = numberAt(start)
  if (start + 32 + length > data.length) throw malformed()
  return decodeAnyUtf8(data.subarray(start + 32, start + 32 + length))
}

function notAsked(): FormatError {
  return new FormatError('rpc_malformed', 'the node returned a log that was not requested')
}

function malformed(): FormatError {
  return new FormatError('rpc_malformed', 'the node returned a malformed event')
}
