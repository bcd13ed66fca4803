import type { Progress } from './terminal.ts'

const BAR_WIDTH = 24
const REDRAW_MS = 100
/** Without a terminal, progress is a line in a log. */
const LOG_INTERVAL_MS = 30_000
/** The rate is that of the most recent work, because chains and networks have slow hours. */
const WINDOW_MS = 20_000

type Stream = Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean; columns?: number }

/**
 * Shows a bar with rate and remaining time on a terminal, and otherwise a line every 30 s.
 *
 * @param now Milliseconds.
 */
export function createProgress(
  stream: Stream,
  label: string,
  total: number | undefined,
  now: () => number = Date.now,
): Progress {
  let drawn = now()
  const marks = [{ at: drawn, done: 0 }]
  const interval = stream.isTTY ? REDRAW_MS : LOG_INTERVAL_MS
  return {
    update: (done) => {
      const at = now()
      if (at - drawn < interval) return
      drawn = at
      marks.push({ at, done })
      while (marks.length > 2 && at - (marks[1]?.at ?? at) > WINDOW_MS) marks.shift()
      const first = marks[0] ?? { at, done: 0 }
      const rate = at > first.at ? (1000 * (done - first.done)) / (at - first.at) : 0
      const line = lineOf(label, done, total, rate)
      stream.write(
        stream.isTTY ? `\r\x1b[2K${line.slice(0, (stream.columns || 80) - 1)}` : `${line}\n`,
      )
    },
    end: () => {
      if (stream.isTTY) stream.write('\r\x1b[2K')
    },
  }
}

/** @param rate Units per second. */
export function lineOf(
  label: string,
  done: number,
  total: number | undefined,
  rate: number,
): string {
  const speed = rate > 0 ? `${rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s` : ''
  if (!total) return [label, done, speed].filter((part) => part !== '').join('  ')
  const share = Math.min(1, done / total)
  const filled = Math.round(share * BAR_WIDTH)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
  const left = rate > 0 && done < total ? `${duration((total - done) / rate)} left` : ''
  return [label, bar, `${done} of ${total}`, speed, left].filter((part) => part !== '').join('  ')
}

/** @returns A duration such as `45 s`, `3 min 20 s` or `2 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
