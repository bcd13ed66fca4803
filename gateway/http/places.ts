import { ApiError } from './errors.ts'

/** Limits how many requests do something at the same time. */
export type Places = {
  /**
   * @returns A function that leaves the place; more than one call does nothing.
   * @throws {ApiError} `overloaded` when no place is free.
   */
  enter(): () => void
}

/** @param count How many there are. @param what They do, for the message. */
export function createPlaces(count: number, what: string): Places {
  let free = count
  return {
    enter() {
      if (free === 0)
        throw new ApiError('overloaded', `${count} ${what} are under way; send the request again`, {
          headers: { 'Retry-After': '10' },
        })
      free--
      let left = false
      return () => {
        if (!left) free++
        left = true
      }
    },
  }
}
