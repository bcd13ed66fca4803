// Preloaded into `docreg`: redirects requests for a case's domain to the test server.
// biome-ignore lint/style/noProcessEnv: a preloaded file has no other input.
const { DID_ADDRESS: address, DID_SERVED: served } = process.env
const platformFetch = globalThis.fetch

globalThis.fetch = async (url, init) => {
  const wanted = String(url)
  return platformFetch(wanted === address && served ? served : wanted, init)
}
