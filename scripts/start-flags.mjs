// The Node options of `npm start`: docs/design.md has the reason for them.
export const START_FLAGS = ['--max-semi-space-size=24', '--heap-growing-percent=100']
