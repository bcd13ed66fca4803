import { bind } from '#http/core/operation.ts'
import type { Core, Module } from '#parts/module.ts'
import { createKinds, typesUrlOf } from './kinds.ts'
import { kindRoutes } from './routes.ts'
import { createKindStore } from './store.ts'

/** Kinds of documents: the fields of each category and their names, which documents must fit. */
export const kindsModule: Module = {
  name: 'kinds',
  tables: ['kind'],
  resources: [kindRoutes],
  open({ config, identity, stores, log }: Pick<Core, 'config' | 'identity' | 'stores' | 'log'>) {
    const store = createKindStore(stores.database)
    const kinds = createKinds(store, typesUrlOf(config.baseUrl, identity.issuerId), (error) =>
      log.error('kinds_unreadable', { error: String(error) }),
    )
    return {
      serve: (deps) => ({ resources: bind([kindRoutes], { ...deps, kinds }) }),
      provides: { credentialTypes: kinds },
      checkDocument: kinds,
    }
  },
}
