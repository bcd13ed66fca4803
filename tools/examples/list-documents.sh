#!/usr/bin/env bash
# All documents of an issuer, and a proof that none is missing, with Foundry's cast alone:
#
#   bash tools/examples/list-documents.sh <RPC address> <registry> <issuerId> <block of deployment, or a file>
#
# Nodes drop old events. The file is a stored list: lines of "document 0x…", as printed by this
# program.
set -euo pipefail
export ETH_RPC_URL=$1
registry=$2 issuer=$3 from=$4 range=10000
block=$(cast block finalized --field number)
topic=$(cast keccak 'DocumentIssued(bytes32,uint32,address,uint40)')
issuerTopic=$(cast to-uint256 "$issuer")
# The issuer's first slot at the ERC-7201 position; its lowest 40 bits are the count of documents,
# and the next 40 that of batches.
base=0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200
namespace=$(cast index uint32 "$issuer" $base)
# An empty list would look complete.
refuse() { echo "$1 at block $block$2" >&2; exit 2; }
newer=': it is newer. Try again when it is final'
if [[ $(cast code "$registry" --block "$block") != 0x?* ]]; then
  [[ $(cast code "$registry") == 0x?* ]] || newer=
  refuse 'no contract at the address' "$newer"
fi
state=$(cast storage "$registry" "$namespace" --block "$block")
newest=$(cast storage "$registry" "$namespace")
count=$((16#${state: -10})) batches=$((16#${state: -20:10}))
# Above the two counts of 40 bits stands that of the accounts: 0 only for an unknown issuer.
if [ "${state: -24:4}" = 0000 ]; then
  [ "${newest: -24:4}" != 0000 ] || newer=
  refuse "no issuer $issuer" "$newer"
fi
more=$((16#${newest: -10} - count)) moreBatches=$((16#${newest: -20:10} - batches))
if [ $((more + moreBatches)) -gt 0 ]; then
  echo "newer than $block, so not listed: $more documents, $moreBatches batches" >&2
  [ $((count + batches)) -gt 0 ] || refuse 'nothing issued' ': all is newer. Try again when it is final'
fi
echo "issuer $issuer at $block"

hashes=$(
  if [ -f "$from" ]; then
    grep -oE '^document 0x[0-9a-f]{64}' "$from" | cut -d' ' -f2 | sort -u
    exit
  fi
  while [ "$from" -le "$block" ]; do
    to=$((from + range - 1 < block ? from + range - 1 : block))
    logs=$(cast rpc eth_getLogs "{\"address\":\"$registry\",\"fromBlock\":\"$(printf 0x%x "$from")\",
      \"toBlock\":\"$(printf 0x%x "$to")\",\"topics\":[\"$topic\",null,\"$issuerTopic\"]}") || exit 2
    # npm's cast exits with 0 on errors, too.
    [[ $logs == \[* ]] || exit 2
    grep -o "\"$topic\",\"0x[0-9a-f]*" <<<"$logs" | cut -d'"' -f4 || true
    from=$((to + 1))
  done | sort -u
) || { echo "no events: the node may have dropped them; give a list that was kept" >&2; exit 2; }

found=0
for hash in $hashes; do
  record=$(cast call "$registry" --block "$block" \
    'recordOf(uint32,bytes32)((uint16,uint40,uint40,uint40,uint16,uint40,uint40,uint8,bool))' "$issuer" "$hash")
  anchored=$(cut -d, -f2 <<<"$record" | tr -d ' ' | cut -d'[' -f1)
  [ "$anchored" = 0 ] && continue
  found=$((found + 1))
  echo "document $hash $record"
done
if [ "$found" -ne "$count" ]; then
  echo "INCOMPLETE: $found of $count documents"
  exit 1
fi
word=complete
[ $((count + batches)) -gt 0 ] || word='nothing issued'
echo "$word: $found of $count documents; batches, which this does not list: $batches"
