import type { Progress, Terminal } from '../terminal.ts'

/** The phases of long work, one after another. */
export type Phases = {
  /** @param total The number of items in the phase. */
  begin(phase: string, total: number): void
  advance(count: number): void
  end(): void
}

/** @returns Phases that a terminal shows. */
export function phasesOn(terminal: Pick<Terminal, 'progress'>): Phases {
  let bar: Progress | undefined
  let done = 0
  return {
    begin(phase, total) {
      done = 0
      bar = terminal.progress(phase, total)
    },
    advance(count) {
      done += count
      bar?.update(done)
    },
    end() {
      bar?.end()
      bar = undefined
    },
  }
}
