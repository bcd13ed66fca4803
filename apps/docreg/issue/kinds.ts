import * as v from 'valibot'
import { CallError } from '#client/index.ts'
import { type Kind, readKind } from '#document/kind.ts'
import { UsageError } from '../errors.ts'
import { connect } from '../gateway.ts'

/** The part of the answer that is read. An answer of another form has no kinds. */
const answer = v.object({
  kinds: v.array(v.object({ category: v.string(), metadata: v.unknown() })),
})

/**
 * Reads the kinds of documents of the service, so that rows are checked before any is sent. The
 * service checks each row again: without an answer, or without a service, there are none here.
 */
export async function kindsOf(values: Parameters<typeof connect>[0]): Promise<Kind[]> {
  try {
    const { kinds } = v.parse(answer, await connect(values, 1).client.listKinds())
    return kinds.flatMap(({ category, metadata }) => {
      const read = readKind(metadata, category)
      return 'kind' in read ? [read.kind] : []
    })
  } catch (error) {
    if (error instanceof CallError || error instanceof UsageError || v.isValiError(error)) return []
    throw error
  }
}
