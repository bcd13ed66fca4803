/** The key of all gateways of the tests; by itself, for tests that start no program. */
export const API_KEY = 'a-key-that-only-the-tests-have'
