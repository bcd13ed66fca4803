// The Node options of `npm start`; docs/design.md gives the reasons.
export const START_FLAGS = ['--max-semi-space-size=24', '--heap-growing-percent=100']
