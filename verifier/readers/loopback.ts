/** @returns Whether a host name is of this machine; IPv6 with brackets, as in a URL, or without. */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|\[::1\]|127(\.\d+){3})$/.test(host)
}
