import type * as v from 'valibot'

/** What a schema of an answer describes. A presenter returns it. */
export type AnswerOf<D extends v.GenericSchema> = Immutable<v.InferInput<D>>

type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T
