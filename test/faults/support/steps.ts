/** The maximum number of a step at which to kill. More steps mean that the work never ends. */
export const MAX_STEPS = 2_000
/** Up to this number, steps are taken at a fixed distance. */
const CLOSE_STEPS = 40

/**
 * @returns The next step at which to kill. After the first ones the distance grows, because work
 * has more steps on a busy machine, where the gateway polls while it waits.
 */
export const stepAfter = (step: number, stride = 1): number =>
  step < CLOSE_STEPS ? step + stride : Math.ceil(1.5 * step)
