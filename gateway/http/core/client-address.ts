import { BlockList, isIP } from 'node:net'

/** Finds the address that a request comes from. */
export type ClientAddress = (
  /** The other end of the connection; `undefined` once it is closed. */
  peer: string | undefined,
  /** The value of `X-Forwarded-For`. */
  forwarded: string | undefined,
) => string

/**
 * Trusts `X-Forwarded-For` only from a trusted proxy. It is read from the right, because a client
 * can send anything on the left: the first address that is not a trusted proxy is the client. A
 * part that is not an address ends the search, and the request counts for the proxy that sent it.
 *
 * @param trusted Addresses and networks (CIDR) of proxies.
 * @param ignored Called once, when the header is received although no proxy is trusted.
 */
export function createClientAddress(
  trusted: readonly string[],
  ignored: () => void = () => {},
): ClientAddress {
  const proxies = blockListOf(trusted)
  let wasIgnored = false

  return (peer, forwarded) => {
    let client = withoutMapping(peer ?? '')
    if (forwarded === undefined) return client
    if (trusted.length === 0 && !wasIgnored) {
      wasIgnored = true
      ignored()
    }
    for (const part of forwarded.split(',').reverse()) {
      if (!isTrusted(proxies, client)) break
      const next = withoutMapping(part.trim())
      if (isIP(next) === 0) break
      client = next
    }
    return client
  }
}

/**
 * @returns The address that a limit counts: an IPv4 address, or the first 64 bits of an IPv6
 * address, because a household or a server has at least that many.
 */
export function countedAddress(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail ? tail.split(':') : []
  // A dotted end counts as two groups.
  const missing = 8 - first.length - last.length - (address.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array<string>(Math.max(missing, 0)).fill('0')
  const network = [...first, ...zeros, ...last].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** @param networks Valid addresses and networks. */
function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

function isTrusted(proxies: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && proxies.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** A socket that accepts both families shows IPv4 addresses as `::ffff:192.0.2.1`. */
function withoutMapping(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}
