#!/bin/sh
# Runs in the Kubo container before its daemon: flushes every block, and announces none.
set -e
ipfs config --json Provide.Enabled false
spec=$(ipfs config Datastore.Spec)
ipfs config --json Datastore.Spec "$(printf %s "$spec" | sed 's/"sync": false/"sync": true/')"
