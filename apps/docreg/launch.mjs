#!/usr/bin/env node
// Starts the command of the package. It stands apart because an older Node cannot read the rest.
const [major, minor] = process.versions.node.split('.').map(Number)
const isSupported = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19)
if (isSupported) {
  import('./docreg.js')
} else {
  console.error(`docreg requires Node 20.19, 22.12 or newer; this is Node ${process.versions.node}`)
  process.exitCode = 64
}
