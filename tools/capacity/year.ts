/** A year that is simulated hour by hour. */
type Year = {
  /** The documents per second that come in during the busiest hour. */
  busiest: number
  /** The longest time from the request to the chain, in hours; `undefined` when a queue is left. */
  longestDelay: number | undefined
}

const HOURS = 365 * 24
/** The documents in an hour outside office hours, compared with an hour in the office. */
const NIGHT = 0.05
/** The documents in the season (June and July), compared with the rest of the year. */
const SEASON = 4
const FIRST_DAY = 151
const LAST_DAY = 211

/** @returns How many documents come in during an hour of the year, relative to others. */
function weightOf(hour: number): number {
  const day = Math.floor(hour / 24)
  const isOffice = day % 7 < 5 && hour % 24 >= 8 && hour % 24 < 18
  const isSeason = day >= FIRST_DAY && day <= LAST_DAY
  return (isOffice ? 1 : NIGHT) * (isSeason ? SEASON : 1)
}

const weights = Array.from({ length: HOURS }, (_, hour) => weightOf(hour))
const all = weights.reduce((sum, weight) => sum + weight, 0)

/**
 * Documents come in by office hours and season, wait in the order of their arrival, and are
 * anchored as fast as the chain accepts them.
 *
 * @param documents The documents of the year.
 * @param hourly How many documents the chain accepts in an hour.
 */
export function simulateYear(documents: number, hourly: number): Year {
  let waiting = 0
  let longest = 0
  let busiest = 0
  for (const weight of weights) {
    const arrived = (documents * weight) / all
    busiest = Math.max(busiest, arrived)
    waiting = Math.max(0, waiting + arrived - hourly)
    // The last document that waits is anchored after all before it.
    longest = Math.max(longest, waiting / hourly)
  }
  return {
    busiest: busiest / 3600,
    longestDelay: waiting > 0 ? undefined : longest,
  }
}
