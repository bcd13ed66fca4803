/** @returns Whether a host name belongs to this machine. IPv6 may have brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|\[::1\]|127(\.\d+){3})$/.test(host)
}
