/**
 * The first Ctrl-C asks long work to stop where it can be resumed; a second one kills.
 *
 * @param onStop Called once.
 */
export function listenForStop(onStop: () => void): { isStopped: () => boolean; end: () => void } {
  let stopped = false
  const stop = () => {
    stopped = true
    end()
    onStop()
  }
  const end = () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, stop)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  return { isStopped: () => stopped, end }
}
