/**
 * Whether this is `npm run test:long`, which repeats the usual work with all cases and for longer.
 * It runs the test files that import this module.
 */
// biome-ignore lint/style/noProcessEnv: set by vitest.config.ts.
export const IS_LONG = process.env.TEST_TIER === 'long'
/** Whether a tier is run, and not files by their paths. */
// biome-ignore lint/style/noProcessEnv: set by vitest.config.ts.
export const IS_TIER = process.env.TEST_TIER !== 'test'
