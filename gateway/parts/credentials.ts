import { type NewDeadline, verifyWithin } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import { hkdfWithNode } from '#base/node-crypto.ts'
import { openRegistryReads } from '#chain/registry.ts'
import { PATIENCE_MS } from '#chain/rpc.ts'
import { createReadHeld } from '#credentials/held.ts'
import { jwtVcIssuerOf } from '#credentials/issuer.ts'
import type { CredentialKeys } from '#credentials/keys.ts'
import type { TypeMetadata } from '#credentials/metadata.ts'
import { createStatusLists, type StatusLists } from '#credentials/status-lists.ts'
import { createTickets } from '#credentials/tickets.ts'
import { createWallets } from '#credentials/wallets.ts'
import { decodeUtf8 } from '#document/bytes.ts'
import { hasScope, tenantOf } from '#keys/grant.ts'
import type { Config } from '#settings/config.ts'
import { subkeysOf } from '#settings/secrets.ts'
import type { VerifyOptions } from '#verifier/verify.ts'
import type { Identity } from './chain.ts'
import type { Identities } from './identity.ts'
import { type ApiKeys, grantOfOwner } from './keys.ts'
import type { CredentialTypes } from './module.ts'
import type { Stores } from './stores.ts'

/** Assembles what wallets need: the issuer's keys, credentials and their status lists. */
export function openCredentials(
  config: Config,
  identity: Identity,
  parts: {
    stores: Stores
    identities: Identities
    types: CredentialTypes | undefined
    verifyOptions: VerifyOptions
    newDeadline: NewDeadline
    apiKeys: ApiKeys
    log: Log
  },
) {
  const { stores, identities, types, verifyOptions, newDeadline } = parts
  const { baseUrl, verifyUrl, walletOffers } = config
  const { registry, issuerId, issuerSecrets, credentialKeys: keys } = identity
  const { own } = identities
  const readHeld = createReadHeld(stores.store, () => verifyWithin(newDeadline(), verifyOptions))
  const withoutKeys = { readHeld, offersToHolders: walletOffers === 'holders' }
  if (!keys) return withoutKeys
  const statusLists = openStatusLists(config, identity, { keys, did: own?.did }, stores)
  const always = { ...withoutKeys, statusLists }
  if (!own) {
    parts.log.warn('issuer_without_domain', {
      warning:
        "nothing goes into wallets, because the issuer's uri in the registry names no domain",
    })
    return always
  }
  return {
    ...always,
    jwtVcIssuer: jwtVcIssuerOf(own, keys),
    wallets: createWallets({
      keys,
      own,
      baseUrl,
      page: verifyUrl,
      registry,
      issuerId,
      tickets: createTickets(issuerSecrets),
      store: stores.credentials,
      read: readHeld,
      async mayOffer({ owner, tenant }, category) {
        const grant = await grantOfOwner(owner, stores, parts.apiKeys)
        if (!grant || !hasScope(grant, 'documents:issue')) return false
        if (![null, tenant].includes(tenantOf(grant))) return false
        return grant.categories?.includes(category) ?? true
      },
      typeOf: async (document) => types?.typeOf(document),
      statusOf: statusLists.placeOf,
      kindOf: async (category) => {
        const file = await types?.file(category)
        return file && (JSON.parse(decodeUtf8(file)) as TypeMetadata)
      },
    }),
  }
}

/** The route is public, so it has connections of its own. */
function openStatusLists(
  { baseUrl, maxHeadAge, finality }: Config,
  { rpc, registry, issuerId, issuerSecrets }: Identity,
  signer: { keys: CredentialKeys; did: string | undefined },
  { statusSlots }: Stores,
): StatusLists {
  return createStatusLists({
    slots: statusSlots,
    ...openRegistryReads(rpc.apart(PATIENCE_MS.public), { registry, issuerId, finality }),
    ...signer,
    subkeys: subkeysOf(issuerSecrets),
    hkdf: hkdfWithNode,
    baseUrl,
    maxHeadAge,
  })
}
