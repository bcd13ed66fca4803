"""Makes eip712.json: requests for OpenZeppelin's ERC2771Forwarder, hashed and signed by eth-account.

python3 -m venv venv && venv/bin/pip install eth-account==0.13.7
venv/bin/python tools/corpus/vectors/generate-eip712.py && npx biome check --write tools/corpus/vectors

The registry and its forwarder are those that scripts/fresh-registry.ts deploys. The calls are written out here by the ABI
specification: 4 bytes of a selector, then words.
"""

import json
from hashlib import sha256
from pathlib import Path
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils import keccak

KEY = "0x" + sha256(b"a registrar's key").hexdigest()
REGISTRY = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
# keccak256(rlp([registry, 1])): the first contract that the registry creates.
FORWARDER = "0x" + keccak(bytes([0xD6, 0x94]) + bytes.fromhex(REGISTRY[2:]) + b"\x01")[12:].hex()
CHAIN = 31337
DEADLINE = 4_000_000_000
TYPES = [
    ("from", "address"),
    ("to", "address"),
    ("value", "uint256"),
    ("gas", "uint256"),
    ("nonce", "uint256"),
    ("deadline", "uint48"),
    ("data", "bytes"),
]
DOMAIN = {
    "name": "DocumentRegistryForwarder",
    "version": "1",
    "chainId": CHAIN,
    "verifyingContract": FORWARDER,
}


def word(value):
    return value if isinstance(value, bytes) else value.to_bytes(32, "big")


def call(signature, *words):
    return keccak(signature.encode())[:4] + b"".join(map(word, words))


def digest_of(text):
    return sha256(text.encode()).digest()


ONE, TWO, ROOT = digest_of("one"), digest_of("two"), digest_of("root")
calls = [
    ("issue(uint32,bytes32,uint40)", 1, ONE, 1893456000),
    # Two dynamic arrays: their offsets, then each with its length before it.
    ("issueMany(uint32,bytes32[],uint40[])", 1, 96, 160, 1, TWO, 1, 0),
    ("revoke(uint32,bytes32,uint8)", 1, ONE, 6),
    ("release(uint32,bytes32)", 1, ONE),
    ("issueBatch(uint32,bytes32,uint40,bytes32)", 1, ROOT, 1000, digest_of("manifest")),
    ("revokeInBatch(uint32,bytes32,bytes32[],uint8)", 1, ROOT, 128, 1, 1, digest_of("three")),
    ("supersede(uint32,bytes32,bytes32,bytes32,uint40)", 1, bytes(32), ONE, digest_of("four"), 0),
]

account = Account.from_key(KEY)
requests = []
for nonce, (signature, *words) in enumerate(calls):
    request = {
        "from": account.address,
        "to": REGISTRY,
        "value": 0,
        "gas": 300_000,
        "nonce": nonce,
        "deadline": DEADLINE,
        "data": call(signature, *words),
    }
    message = encode_typed_data(
        DOMAIN,
        {"ForwardRequest": [{"name": name, "type": kind} for name, kind in TYPES]},
        request,
    )
    digest = keccak(b"\x19" + message.version + message.header + message.body)
    signed = account.sign_message(message)
    requests.append(
        {
            "function": signature,
            "gas": str(request["gas"]),
            "nonce": str(nonce),
            "data": "0x" + request["data"].hex(),
            "digest": "0x" + digest.hex(),
            "signature": "0x" + bytes(signed.signature).hex(),
        }
    )
    separator = message.header

vectors = {
    "origin": "tools/corpus/vectors/generate-eip712.py, with eth-account 0.13.7",
    "key": KEY,
    "account": account.address,
    "chainId": CHAIN,
    "registry": REGISTRY,
    "forwarder": FORWARDER,
    "domainSeparator": "0x" + separator.hex(),
    "deadline": DEADLINE,
    "requests": requests,
}
file = Path(__file__).parent / "eip712.json"
file.write_text(json.dumps(vectors, indent=2) + "\n")
