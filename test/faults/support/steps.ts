/** Maximum number of a step to kill at; more mean that the work never ends. */
export const MAX_STEPS = 2_000
/** Up to here, steps are taken at a fixed distance. */
const CLOSE_STEPS = 40

/**
 * The next step to kill at. Beyond the first ones the distance grows: on a busy machine, work has
 * more steps, because the gateway looks again while it waits.
 */
export const stepAfter = (step: number, stride = 1): number =>
  step < CLOSE_STEPS ? step + stride : Math.ceil(1.5 * step)
