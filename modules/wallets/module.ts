import { verifyWithin } from '#base/deadline.ts'
import { hkdfWithNode } from '#base/node-crypto.ts'
import { openRegistryReads } from '#chain/registry.ts'
import { PATIENCE_MS } from '#chain/rpc.ts'
import { decodeUtf8 } from '#document/bytes.ts'
import { bind } from '#http/core/operation.ts'
import { hasScope, tenantOf } from '#keys/grant.ts'
import type { Identity } from '#parts/chain.ts'
import type { CredentialKeys } from '#parts/credential-keys.ts'
import { grantOfOwner } from '#parts/keys.ts'
import type { Core, Module } from '#parts/module.ts'
import type { Stores } from '#parts/stores.ts'
import type { Config } from '#settings/config.ts'
import { subkeysOf } from '#settings/secrets.ts'
import type { WalletDeps } from './deps.ts'
import { createReadHeld } from './held.ts'
import { jwtVcIssuerOf } from './issuer.ts'
import { issuerRoutes } from './issuer-routes.ts'
import type { TypeMetadata } from './metadata.ts'
import { offerRoutes, offerToHolder } from './offers-routes.ts'
import { createStatusLists, type StatusLists } from './status-lists.ts'
import { statusListRoutes } from './status-lists-routes.ts'
import { createCredentialStore, createStatusSlots } from './store.ts'
import { createTickets } from './tickets.ts'
import { createWallets } from './wallets.ts'
import { walletRoutes } from './wallets-routes.ts'

const RESOURCES = [offerRoutes, walletRoutes, issuerRoutes, statusListRoutes]

/** Documents in wallets: offers, credentials and their status lists. */
export const walletsModule: Module = {
  name: 'wallets',
  tables: ['spent_nonce', 'status_list', 'status_slot', 'used_offer'],
  resources: RESOURCES,
  open(core: Needs) {
    const { config, identity, verifying } = core
    const credentials = openCredentials(core)
    const { addresses } = verifying
    return {
      serve: (deps) => ({ resources: bind<WalletDeps>(RESOURCES, { ...deps, ...credentials }) }),
      ...(identity.credentialKeys && {
        provides: {
          walletOffers: {
            areForHolders: 'wallets' in credentials && config.walletOffers === 'holders',
            async link(publicId) {
              const { link } = await offerToHolder({ ...credentials, addresses }, publicId)
              return link
            },
          },
        },
      }),
    }
  },
}

type Needs = Pick<
  Core,
  'config' | 'identity' | 'stores' | 'identities' | 'apiKeys' | 'verifying' | 'ports' | 'log'
>

/** Assembles what wallets need: the issuer's keys, credentials and their status lists. */
function openCredentials({ config, identity, ports, verifying, ...core }: Needs) {
  const { stores, identities, apiKeys, log } = core
  const { verifyOptions, newDeadline } = verifying
  const types = ports.credentialTypes
  const { baseUrl, verifyUrl, walletOffers } = config
  const { registry, issuerId, issuerSecrets, credentialKeys: keys } = identity
  const { own } = identities
  const readHeld = createReadHeld(stores.store, () => verifyWithin(newDeadline(), verifyOptions))
  const withoutKeys = { readHeld, offersToHolders: walletOffers === 'holders' }
  if (!keys) return withoutKeys
  const statusLists = openStatusLists(config, identity, { keys, did: own?.did }, stores)
  const always = { ...withoutKeys, statusLists }
  if (!own) {
    log.warn('issuer_without_domain', {
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
      store: createCredentialStore(stores.database),
      read: readHeld,
      async mayOffer({ owner, tenant }, category) {
        const grant = await grantOfOwner(owner, { apiKeys, ports })
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
  { database }: Pick<Stores, 'database'>,
): StatusLists {
  return createStatusLists({
    slots: createStatusSlots(database),
    ...openRegistryReads(rpc.apart(PATIENCE_MS.public), { registry, issuerId, finality }),
    ...signer,
    subkeys: subkeysOf(issuerSecrets),
    hkdf: hkdfWithNode,
    baseUrl,
    maxHeadAge,
  })
}
