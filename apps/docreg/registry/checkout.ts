import { InputError } from '../errors.ts'

/**
 * Loads modules that only a checkout with its development dependencies has: Hardhat, the contracts
 * and their gas.
 *
 * @throws {InputError} `no_checkout` anywhere else.
 */
export async function inCheckout<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new InputError(
      'no_checkout',
      'docreg registry works only in a checkout of document-registry, after "npm install": it requires Hardhat and the contracts',
      cause,
    )
  }
}
