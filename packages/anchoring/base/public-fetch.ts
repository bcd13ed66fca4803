import { promises as dns } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, fetch as undiciFetch } from 'undici'

/**
 * Ranges of IPv4 outside the public internet (from IANA's special-purpose registry, and multicast).
 */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
/**
 * Ranges of 2000::/3, which is all of assigned IPv6, that lead elsewhere or are for documentation.
 */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const special = listOf('ipv4', SPECIAL_IPV4)
const specialOfIpv6 = listOf('ipv6', SPECIAL_IPV6)
const global = listOf('ipv6', ['2000::/3'])

function listOf(family: 'ipv4' | 'ipv6', ranges: string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}

/**
 * @param address An IPv4 or IPv6 address. @returns Whether anybody on the internet can reach it.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return (
    isIP(address) === 6 && global.check(address, 'ipv6') && !specialOfIpv6.check(address, 'ipv6')
  )
}

export type PublicFetchOptions = {
  /** @returns All addresses of a name; absent = DNS is asked. */
  resolve?: (hostname: string) => Promise<string[]>
  isAllowed?: (address: string) => boolean
}

/** @returns The addresses of a host. Rejects when it has none, or one that is not allowed. */
export type CheckHost = (hostname: string) => Promise<string[]>

/** @returns A check for hosts, which are names or IP addresses as in URLs. */
export function createHostCheck({
  resolve = resolveByDns,
  isAllowed = isPublicAddress,
}: PublicFetchOptions = {}): CheckHost {
  return async (hostname) => {
    const host = hostname.replace(/^\[|\]$/g, '')
    // An IP address needs no lookup.
    const addresses = isIP(host) ? [host] : await resolve(host)
    if (addresses.length === 0) throw new Error('the host name has no address')
    if (!addresses.every(isAllowed)) throw new Error('the address is not public')
    return addresses
  }
}

/**
 * A `fetch` for addresses that others choose. It connects only to public addresses, which it
 * resolves and checks itself, so that a name cannot lead elsewhere between check and connection.
 */
export function createPublicFetch(options: PublicFetchOptions = {}): typeof fetch {
  const check = createHostCheck(options)

  const lookup: LookupFunction = (hostname, options, callback) => {
    check(hostname).then(
      (addresses) => {
        const all = addresses.map((address) => ({
          address,
          family: isIP(address),
        }))
        const [first] = all
        if (options.all) callback(null, all)
        else callback(null, first?.address ?? '', first?.family)
      },
      (error) => callback(error, ''),
    )
  }
  // Each connection serves one request, so that the checked address is the one in use.
  const dispatcher = new Agent({ connect: { lookup }, pipelining: 0 })

  const publicFetch = async (url: string, init: RequestInit = {}) => {
    const { hostname } = new URL(url)
    // Connecting to an IP address does not call `lookup`.
    if (isIP(hostname.replace(/^\[|\]$/g, ''))) await check(hostname)
    const { signal, redirect, method, headers, body } = init
    return undiciFetch(url, {
      dispatcher,
      ...(signal && { signal }),
      ...(redirect && { redirect }),
      ...(method && { method }),
      ...(headers && { headers: headers as Record<string, string> }),
      ...(typeof body === 'string' && { body }),
    })
  }
  // undici's Response is that of the platform, but has different types.
  return publicFetch as unknown as typeof fetch
}

/**
 * `dns.lookup` is not used, because it occupies one of the few threads that also flush the disk.
 */
async function resolveByDns(hostname: string): Promise<string[]> {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 })
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
}
