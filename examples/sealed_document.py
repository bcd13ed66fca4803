"""From publicId and sealed bytes to the document: docs/formats.md §1 to §7. Bytes only, nobody is asked.

Each § is a section of docs/formats.md, each code one of its codes. Both files were written from that text alone.
"""
import base64
import contextlib
import hashlib
import json
import re
from datetime import date

import rfc8785
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
CAIP10 = re.compile("eip155:[1-9][0-9]{0,31}:0x[0-9a-f]{40}")
DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
TEXTS = {
    "subjectName": "[^\x00-\x1f\x7f-\x9f]{1,200}",
    "subjectId": "[0-9]{1,64}",
    "category": "[a-z][a-z0-9]*(_[a-z0-9]+)*",
    "issuedAt": DATE,
    "expiresAt": DATE,
    "registry": CAIP10,
}

class Refused(ValueError):
    """A rule is broken; the text is its code."""

def require(holds, code):
    if not holds:
        raise Refused(code)

@contextlib.contextmanager
def refusing(code, *errors):
    """Inside, each of these errors means that the rule of this code is broken."""
    try:
        yield
    except errors:
        raise Refused(code) from None

def read_public_id(text):
    """§7: the documentHash and the documentKey."""
    require(len(text) <= 80 and set(text) <= set(BASE58), "public_id_malformed")
    number = 0
    for character in text:
        number = number * 58 + BASE58.index(character)
    leading_zeros = len(text) - len(text.lstrip("1"))  # base58 writes each leading zero byte as a `1`
    data = bytes(leading_zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")
    require(len(data) == 53, "public_id_malformed")
    require(hashlib.sha256(data[:49]).digest()[:4] == data[49:], "public_id_checksum")
    require(data[0] == 1, "public_id_kind")
    return data[1:33], data[33:49]

def cid(document_hash):
    """§6: the CID of the sealed bytes."""
    return "b" + base64.b32encode(b"\x01\x55\x12\x20" + document_hash).decode().lower().rstrip("=")

def unseal(sealed, key):
    """§5: the bytes of the document inside."""
    with refusing("sealed_malformed", ValueError):
        parts = sealed.decode("ascii").split(".")
        header, encrypted_key, iv, ciphertext, tag = [base64url(part) for part in parts]
        header = strict_json(header)
        require(len(encrypted_key) == 0 and len(iv) == 12 and len(tag) == 16, "sealed_malformed")
    with refusing("sealed_header", KeyError, TypeError, ValueError):
        expected = {"alg": "dir", "enc": "A128GCM", "kid": header["kid"], "typ": "document+jwe", "v": 1}
        require(header == expected and header["v"] is not True, "sealed_header")
        require(len(base64url(header["kid"])) == 16, "sealed_header")
    with refusing("wrong_key", InvalidTag):
        padded = AESGCM(key).decrypt(iv, ciphertext + tag, parts[0].encode())
    # §4: canonical JSON does not end with a space, so all spaces at the end are padding.
    data = padded.rstrip(b" ")
    blocks = (len(data) + 255) // 256
    require(0 < len(padded) == blocks * 256, "sealed_padding")
    return data

def base64url(text):
    """§5: the bytes; of the ways to write them only one is taken."""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64.urlsafe_b64encode(data).decode().rstrip("=") == text, "sealed_malformed")
    return data

def read_document(data):
    """§1, §2: the document that these bytes are."""
    document = strict_json(data)
    with refusing("not_canonical", rfc8785.CanonicalizationError):  # a number like 1e400
        require(rfc8785.dumps(document) == data, "not_canonical")
    # What is missing or has another type raises one of these errors.
    with refusing("document_fields", KeyError, TypeError, ValueError, AttributeError):
        full = {"expiresAt": document["issuedAt"], "metadata": {}} | document
        texts, metadata, issuer_id = {name: full[name] for name in TEXTS}, full["metadata"], full["issuerId"]
        require(full.keys() == {*TEXTS, "metadata", "issuerId"}, "document_fields")
        require(all(re.fullmatch(TEXTS[name], text) for name, text in texts.items()), "document_fields")
        require(len(full["category"]) <= 64, "document_fields")
        issued, expires = date.fromisoformat(full["issuedAt"]), date.fromisoformat(full["expiresAt"])
        require(date(1970, 1, 2) <= issued <= expires <= date(9999, 12, 30), "document_fields")
        size = len("".join([*metadata.keys(), *metadata.values()]).encode())
        require(len(metadata) <= 64 and size <= 32_768, "document_fields")
        require(all(1 <= len(key) <= 64 for key in metadata), "document_fields")
        require(isinstance(issuer_id, float) and issuer_id.is_integer(), "document_fields")
        require(1 <= issuer_id <= 4_294_967_295, "document_fields")
    return document | {"issuerId": int(issuer_id)}

def valid_until(document):
    """§3: the first second at which the document is no longer valid; 0 = never expires."""
    if "expiresAt" not in document:
        return 0
    return ((date.fromisoformat(document["expiresAt"]) - date(1970, 1, 1)).days + 1) * 86_400

def strict_json(data):
    """§1: the value. All its numbers are floats, as in ECMAScript."""
    def check(value, depth):
        nonlocal duplicate
        require(depth <= 32, "json_too_deep")
        if isinstance(value, str):
            require(not re.search("[\ud800-\udfff]", value), "json_lone_surrogate")
        if isinstance(value, list):
            return [check(item, depth + 1) for item in value]
        if isinstance(value, tuple):  # an object, as (key, value) pairs: a dict would hide that a key came twice
            keys = [check(key, depth) for key, _ in value]
            require("__proto__" not in keys, "json_forbidden_key")
            duplicate = duplicate or len(keys) > len(set(keys))
            return {key: check(member, depth + 1) for key, member in value}
        return value

    def refuse_constant(_nan_or_infinity):
        raise Refused("json_syntax")

    duplicate = False
    with refusing("json_too_deep", RecursionError), refusing("json_syntax", ValueError):
        parsed = json.loads(data.decode(), object_pairs_hook=tuple, parse_int=float, parse_constant=refuse_constant)
    value = check(parsed, 0)
    require(not duplicate, "json_duplicate_key")
    return value
