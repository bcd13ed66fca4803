import { createShares, type Limits } from '#base/concurrency.ts'
import { ApiError } from './errors.ts'

/** Limits how many requests are handled at the same time. */
export type Places = {
  /**
   * @returns A function that frees the place; calling it again does nothing.
   * @throws {ApiError} `overloaded` when no place is free, or the owner's share is used up.
   */
  enter(owner: string): () => void
}

/** @param what Names the requests in the message. */
export function createPlaces({ all, each }: Limits, what: string): Places {
  const shares = createShares({ all, each })
  return {
    enter(owner) {
      if (!shares.take(owner))
        throw new ApiError(
          'overloaded',
          `a tenant may have ${each} ${what} at a time, and all tenants together ${all}; send the request again`,
          { headers: { 'Retry-After': '10' } },
        )
      let left = false
      return () => {
        if (!left) shares.give(owner)
        left = true
      }
    },
  }
}
