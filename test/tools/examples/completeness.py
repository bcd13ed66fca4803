"""Reads proofs of completeness by docs/formats.md §14 and §16 alone, with none of this project's code.

    completeness.py <a JSON file: a list of {proof, registry, trustedBlocks, codeHash}, each proof a text>
Prints a list of what each comes to: {error}, {status, code}, or {status, isRegistered, documents, batches}.
"""
import json
import re
import sys

from Crypto.Hash import keccak

BASE = 0xD37714E65EC23C3D624F4C79DF96DA73F7311A8284370E5D3340A0F60E8B5200
EMPTY = bytes.fromhex("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421")
STATUSES = ["not_issued", "valid", "expired", "suspended", "revoked", "superseded", "distrusted"]
MEMBERS = {"type", "v", "registry", "issuerId", "documentHashes", "roots", "header", "accountProof", "nodes"}


class Failed(Exception):
    """With the code of what does not hold."""


def require(holds, code="proof_invalid"):
    if not holds:
        raise Failed(code)


def keccak256(data):
    return keccak.new(digest_bits=256, data=data).digest()


NO_CODE = keccak256(b"")


def item_at(data, at, depth):
    """One RLP item in its shortest form, and where it ends."""
    require(at < len(data) and depth <= 32)
    first = data[at]
    if first < 0x80:
        return data[at : at + 1], at + 1
    is_list = first >= 0xC0
    short = first - (0xC0 if is_list else 0x80)
    start = at + 1
    if short <= 55:
        size = short
    else:
        start += short - 55
        digits = data[at + 1 : start]
        require(len(digits) == short - 55 and digits[0] != 0)
        size = int.from_bytes(digits, "big")
        require(size > 55)
    end = start + size
    require(end <= len(data))
    if not is_list:
        require(not (size == 1 and data[start] < 0x80))
        return data[start:end], end
    items = []
    while start < end:
        item, start = item_at(data, start, depth + 1)
        items.append(item)
    require(start == end)
    return items, end


def decoded(data):
    item, end = item_at(data, 0, 0)
    require(end == len(data))
    return item


def size_of(item):
    """The number of bytes of an item in RLP."""
    if isinstance(item, bytes) and len(item) == 1 and item[0] < 0x80:
        return 1
    payload = len(item) if isinstance(item, bytes) else sum(map(size_of, item))
    return 1 + payload + (0 if payload <= 55 else (payload.bit_length() + 7) // 8)


def path_of(item):
    """The nibbles of a short node, and whether it is a leaf."""
    require(isinstance(item, bytes) and item)
    nibbles = [digit for byte in item for digit in (byte >> 4, byte & 15)]
    flag = nibbles[0]
    require(flag <= 3 and (flag & 1 or nibbles[1] == 0))
    return nibbles[1 if flag & 1 else 2 :], bool(flag & 2)


def read_trie(root, key, node_of):
    """The value under a key, or None where it is proven absent."""
    if root == EMPTY:
        return None
    path = [digit for byte in key for digit in (byte >> 4, byte & 15)]
    node = decoded(node_of(root))
    while True:
        require(isinstance(node, list) and len(node) in (2, 17))
        if len(node) == 17:
            if not path:
                require(isinstance(node[16], bytes))
                return node[16] or None
            child, path = node[path[0]], path[1:]
        else:
            part, is_leaf = path_of(node[0])
            if is_leaf:
                require(isinstance(node[1], bytes))
                return node[1] if path == part else None
            if path[: len(part)] != part:
                return None
            require(part and node[1])
            child, path = node[1], path[len(part) :]
        if child == b"":
            return None
        node = child if isinstance(child, list) else decoded(node_of(child))
        require(isinstance(child, list) == (size_of(node) < 32))


def read_account(nodes, state_root, address, code_hash):
    """The root of the storage of an account, whose proof is a list in its order."""
    left = list(nodes)

    def next_node(wanted):
        require(left)
        node = left.pop(0)
        require(keccak256(node) == wanted)
        return node

    leaf = read_trie(state_root, keccak256(address), next_node)
    require(not left)
    require(leaf is not None, "no_registry")
    account = decoded(leaf)
    require(isinstance(account, list) and len(account) == 4)
    storage, code = account[2:]
    require(isinstance(storage, bytes) and isinstance(code, bytes) and (len(storage), len(code)) == (32, 32))
    require(code != NO_CODE, "no_registry")
    require(code_hash is None or code == code_hash, "other_code")
    return storage


def number_of(item):
    require(isinstance(item, bytes) and len(item) <= 6 and item[:1] != b"\0")
    return int.from_bytes(item, "big")


def read_header(data):
    require(len(data) <= 64 * 1024)
    fields = decoded(data)
    require(isinstance(fields, list) and len(fields) >= 15)
    require(isinstance(fields[3], bytes) and len(fields[3]) == 32)
    number_of(fields[8])
    return fields[3], number_of(fields[11])


def at(key, slot):
    return keccak256(key.to_bytes(32, "big") + slot.to_bytes(32, "big"))


def bits(word, low, high):
    return (word >> low) & ((1 << (high - low + 1)) - 1)


def status_of(record, distrusted_from, revoker_from, block_time, expires):
    anchored, until, revoked, reason = (bits(record, *part) for part in ((16, 55), (96, 135), (152, 191), (232, 239)))
    if not anchored:
        return 0
    if distrusted_from and anchored >= distrusted_from:
        return 6
    if revoked and reason not in (6, 8):
        return 5 if reason == 4 else 4
    if revoked and (reason == 6 or 0 < revoker_from <= revoked):
        return 3
    return 2 if expires and until and block_time >= until else 1


def read_form(text):
    def members(pairs):
        require(len(dict(pairs)) == len(pairs))
        return dict(pairs)

    def ascending(keys):
        return isinstance(keys, list) and len(keys) <= 100_000 and all(is_bytes(key, 32) for key in keys) and all(
            one < other for one, other in zip(keys, keys[1:]))

    def is_bytes(value, size=None):
        return isinstance(value, str) and re.fullmatch("0x([0-9a-f]{2})+", value) and size in (None, len(value) // 2 - 1)

    def number(digits):  # 1.0 is 1
        return int(float(digits)) if float(digits).is_integer() else float(digits)

    proof = json.loads(text, object_pairs_hook=members, parse_float=number)
    require(isinstance(proof, dict) and proof.keys() == MEMBERS)
    require((proof["type"], proof["v"]) == ("document-registry-completeness", 1) and type(proof["v"]) is int)
    require(isinstance(proof["registry"], str) and re.fullmatch("eip155:[1-9][0-9]{0,31}:0x[0-9a-f]{40}", proof["registry"]))
    require(type(proof["issuerId"]) is int and 1 <= proof["issuerId"] < 2**32)
    require(ascending(proof["documentHashes"]) and ascending(proof["roots"]) and is_bytes(proof["header"]))
    for name, most in (("accountProof", 64), ("nodes", 1_000_000)):
        require(isinstance(proof[name], list) and len(proof[name]) <= most and all(map(is_bytes, proof[name])))
    require(len(set(proof["nodes"])) == len(proof["nodes"]))
    return proof


def read_listing(proof, given):
    raw = lambda text: bytes.fromhex(text[2:])
    require(proof["registry"] == given["registry"], "other_registry")
    header = raw(proof["header"])
    state_root, block_time = read_header(header)
    require("0x" + keccak256(header).hex() in given["trustedBlocks"], "block_untrusted")
    code_hash = given["codeHash"] and raw(given["codeHash"])
    address = raw(proof["registry"].split(":")[2])
    root = read_account([raw(node) for node in proof["accountProof"]], state_root, address, code_hash)
    nodes, used = {keccak256(raw(node)): raw(node) for node in proof["nodes"]}, set()

    def node_of(wanted):
        require(wanted in nodes)
        used.add(wanted)
        return nodes[wanted]

    def word_at(position):
        leaf = read_trie(root, keccak256(position), node_of)
        value = b"" if leaf is None else decoded(leaf)
        require(isinstance(value, bytes) and len(value) <= 32)
        return int.from_bytes(value, "big")

    base = int.from_bytes(at(proof["issuerId"], BASE), "big")

    def signer_at(index):
        signer = word_at(at(index, base + 4))
        require(bits(signer, 0, 159), "no_registry")
        return bits(signer, 0, 159), bits(signer, 160, 199)

    state = word_at(base.to_bytes(32, "big"))
    found, missing = {}, {}
    for name, slot, counted in (("documents", 1, (0, 39)), ("batches", 2, (40, 79))):
        keys = proof["documentHashes" if name == "documents" else "roots"]
        words = {key: word_at(at(int(key, 16), base + slot)) for key in keys}
        listed = []
        for key, word in words.items():
            if not bits(word, 16, 55):
                continue
            account, distrusted_from = signer_at(bits(word, 0, 15))
            revoker_from = signer_at(bits(word, 136, 151))[1] if bits(word, 152, 191) else 0
            status = STATUSES[status_of(word, distrusted_from, revoker_from, block_time, name == "documents")]
            size = [bits(word, 96, 135)] if name == "batches" else []
            listed.append([key, status, f"0x{account:040x}", *size])
        missing[name] = [key for key, word in words.items() if not bits(word, 16, 55)]
        found[name] = {"count": bits(state, *counted), "listed": listed, "notIssued": missing[name]}
    require(len(used) == len(proof["nodes"]))
    whole = all(one["count"] == len(one["listed"]) for one in found.values())
    registered = bits(state, 80, 95) > 0
    return {"status": "complete" if whole else "incomplete", "isRegistered": registered, **found}


def judged(given):
    try:
        proof = read_form(given["proof"])
    except Exception:
        return {"error": "completeness_malformed"}
    try:
        return read_listing(proof, given)
    except Failed as failed:
        return {"status": "unverifiable", "code": str(failed)}


with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps([judged(given) for given in json.load(file)]))
