"""Makes documents.json and must-fail.json from the definitions in docs/formats.md, and from nothing else of this project.

python3 -m venv venv && venv/bin/pip install cryptography && venv/bin/python test/vectors/generate.py && npx biome check --write test/vectors
"""

import hashlib, hmac, json, base64, struct
from pathlib import Path
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HERE = Path(__file__).parent


def b64u(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()


def hkdf(ikm, salt, info, n):
    prk = hmac.new(salt or b"\0" * 32, ikm, hashlib.sha256).digest()
    out = b""
    t = b""
    i = 1
    while len(out) < n:
        t = hmac.new(prk, t + info + bytes([i]), hashlib.sha256).digest()
        out += t
        i += 1
    return out[:n]


A = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def b58(b):
    n = int.from_bytes(b, "big")
    s = ""
    while n:
        n, r = divmod(n, 58)
        s = A[r] + s
    return "1" * (len(b) - len(b.lstrip(b"\0"))) + s


V = b"document-registry/v1"


def lp(p):
    return struct.pack(">I", len(p)) + p


secret = bytes(range(32))
doc_sub = hkdf(secret, b"", V + b"/document-subkey", 32)
salt_sub = hkdf(secret, b"", V + b"/salt-subkey", 32)
REG = "eip155:31337:0x5fbdb2315678afecb367f032d93f642f64180aa3"
docs = [
    (
        "minimal",
        {
            "subjectName": "Ada Lovelace",
            "subjectId": "18151210",
            "category": "birth_certificate",
            "issuedAt": "2026-01-31",
            "registry": REG,
            "issuerId": 1,
        },
    ),
    (
        "with expiry and metadata, keys that JCS orders",
        {
            "subjectName": "Ada Lovelace",
            "subjectId": "18151210",
            "category": "licence",
            "issuedAt": "2026-01-31",
            "expiresAt": "2036-02-29",
            "metadata": {
                "z": "1",
                "a": "2",
                "B": "3",
                "10": "4",
                "9": "5",
                "constructor": "6",
                "toString": "7",
            },
            "registry": REG,
            "issuerId": 4294967295,
        },
    ),
    (
        "names in many scripts, with what JSON must escape",
        {
            "subjectName": 'Ωμέγα 山田太郎 مُحَمَّد 👩‍🔬 "\\/',
            "subjectId": "0" * 64,
            "category": "a1_b2",
            "issuedAt": "1970-01-02",
            "metadata": {"é": "\u0001\b\t\n\f\r\u001f\u007f\u2028", "e\u0301": "", "😀": "\ue000"},
            "registry": REG,
            "issuerId": 2,
        },
    ),
]


def jcs(v):
    if isinstance(v, dict):
        return (
            "{"
            + ",".join(
                jcs(k) + ":" + jcs(v[k]) for k in sorted(v, key=lambda s: s.encode("utf-16-be"))
            )
            + "}"
        )
    if isinstance(v, int):
        return str(v)
    return json.dumps(
        v, ensure_ascii=False
    )  # escapes " \ and controls below 0x20 as RFC 8785 wants


out = []
for i, (name, d) in enumerate(docs):
    plain = jcs(d).encode()
    salt = hmac.new(
        salt_sub,
        b"".join(
            map(
                lp,
                [V, b"default", b"order-%d" % i, struct.pack(">I", 0), struct.pack(">I", i), plain],
            )
        ),
        hashlib.sha256,
    ).digest()[:16]
    key = hkdf(doc_sub, salt, V + b"/document-key", 16)
    iv = hkdf(doc_sub, salt, V + b"/iv", 12)
    padded = plain + b" " * (-len(plain) % 256)
    head = b64u(
        json.dumps(
            {"alg": "dir", "enc": "A128GCM", "kid": b64u(salt), "typ": "document+jwe", "v": 1},
            separators=(",", ":"),
        ).encode()
    )
    ct = AESGCM(key).encrypt(iv, padded, head.encode())
    jwe = (head + ".." + b64u(iv) + "." + b64u(ct[:-16]) + "." + b64u(ct[-16:])).encode()
    h = hashlib.sha256(jwe).digest()
    body = b"\x01" + h + key
    pid = b58(body + hashlib.sha256(body).digest()[:4])
    cid = "b" + base64.b32encode(b"\x01\x55\x12\x20" + h).decode().lower().rstrip("=")
    out.append(
        {
            "name": name,
            "document": d,
            "canonical": plain.decode(),
            "tenant": "default",
            "idempotencyKey": "order-%d" % i,
            "itemIndex": 0,
            "attempt": i,
            "salt": salt.hex(),
            "documentKey": key.hex(),
            "iv": iv.hex(),
            "sealed": jwe.decode(),
            "documentHash": "0x" + h.hex(),
            "cid": cid,
            "publicId": pid,
        }
    )
json.dump(
    {
        "origin": "Computed by an independent Python program from the definitions in docs/formats.md, with hashlib, hmac and the AESGCM of the package cryptography.",
        "issuerSecret": "0x" + secret.hex(),
        "subkeys": {"document": "0x" + doc_sub.hex(), "salt": "0x" + salt_sub.hex()},
        "documents": out,
    },
    open(HERE / "documents.json", "w"),
    indent=2,
    ensure_ascii=True,
)

# ---- must fail
d0 = out[0]
plain = d0["canonical"].encode()
key = bytes.fromhex(d0["key"] if "key" in d0 else d0["documentKey"])
iv = bytes.fromhex(d0["iv"])
salt = bytes.fromhex(d0["salt"])


def jwe(header, padded=plain + b" " * (-len(plain) % 256)):
    head = b64u(json.dumps(header, separators=(",", ":")).encode())
    ct = AESGCM(key).encrypt(iv, padded, head.encode())
    return head + ".." + b64u(iv) + "." + b64u(ct[:-16]) + "." + b64u(ct[-16:])


H = {"alg": "dir", "enc": "A128GCM", "kid": b64u(salt), "typ": "document+jwe", "v": 1}
good = d0["sealed"]
parts = good.split(".")


def flip(s, i):
    c = s[i]
    return s[:i] + ("A" if c != "A" else "B") + s[i + 1 :]


def pid(body):
    return b58(body + hashlib.sha256(body).digest()[:4])


p = d0["publicId"]
hh = bytes.fromhex(d0["documentHash"][2:])
F = []


def add(fmt, name, inp, code, **k):
    F.append({"format": fmt, "name": name, "input": inp, **k, "code": code})


add("publicId", "empty", "", "public_id_malformed")
add("publicId", "last character missing", p[:-1], "public_id_malformed")
add("publicId", "one character more", p + "1", "public_id_checksum")
add("publicId", "two characters more", p + "11", "public_id_malformed")
add("publicId", "a space before it", " " + p, "public_id_malformed")
add("publicId", "a character outside base58", "0" + p[1:], "public_id_malformed")
add("publicId", "with a multibase prefix", "z" + p, "public_id_malformed")
add("publicId", "very long", "2" * 1000, "public_id_malformed")
add("publicId", "one character mistyped", flip(p, 30), "public_id_checksum")
add(
    "publicId",
    "last character mistyped",
    p[:-1] + ("2" if p[-1] != "2" else "3"),
    "public_id_checksum",
)
add("publicId", "two characters swapped", p[:20] + p[21] + p[20] + p[22:], "public_id_checksum")
add("publicId", "unknown kind, right checksum", pid(b"\x03" + hh + key), "public_id_kind")
add(
    "publicId",
    "key of 15 bytes, right checksum",
    pid(b"\x01" + hh + key[:15]),
    "public_id_malformed",
)
c = d0["cid"]
c32 = lambda b: "b" + base64.b32encode(b).decode().lower().rstrip("=")
add("cid", "base32 with padding", c + "=", "cid_malformed")
add("cid", "empty", "", "cid_malformed")
add("cid", "not a CID", "hello", "cid_malformed")
add("cid", "truncated", c[:-2], "cid_malformed")
add("cid", "CIDv0", "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG", "cid_malformed")
add("cid", "codec dag-pb", c32(b"\x01\x70\x12\x20" + hh), "cid_malformed")
add("cid", "hash sha2-512", c32(b"\x01\x55\x13\x40" + hh + hh), "cid_malformed")
add("cid", "identity hash", c32(b"\x01\x55\x00\x20" + hh), "cid_malformed")
add("cid", "digest of 31 bytes", c32(b"\x01\x55\x12\x1f" + hh[:31]), "cid_malformed")
for n, t, code in [
    ("nothing", "", "json_syntax"),
    ("trailing comma", '{"a":1,}', "json_syntax"),
    ("two values", "{} {}", "json_syntax"),
    ("NaN", '{"a":NaN}', "json_syntax"),
    ("a byte order mark", "\ufeff{}", "json_syntax"),
    ("control character in a string", '"\u0001"', "json_syntax"),
    ("a key twice", '{"a":1,"a":1}', "json_duplicate_key"),
    ("a key twice, once escaped", '{"a":1,"\\u0061":2}', "json_duplicate_key"),
    ("a key twice, deep", '[{"a":{"b":1,"c":2,"b":3}}]', "json_duplicate_key"),
    (
        "a key twice, beside strings that look like keys",
        '{"a":"\\"a\\":","a":"b"}',
        "json_duplicate_key",
    ),
    ("half a surrogate pair in a value", '{"a":"\\ud800"}', "json_lone_surrogate"),
    ("half a surrogate pair in a key", '{"\\udc00":1}', "json_lone_surrogate"),
    ("surrogates in the wrong order", '["\\udc00\\ud800"]', "json_lone_surrogate"),
    ("nested 40 deep", "[" * 40 + "]" * 40, "json_too_deep"),
    ("nested 10,000 deep", "[" * 10000 + "]" * 10000, "json_too_deep"),
    ("__proto__", '{"__proto__":{"a":1}}', "json_forbidden_key"),
    ("__proto__, deep and escaped", '[{"a":{"\\u005f_proto__":1}}]', "json_forbidden_key"),
]:
    add("json", n, t, code)
for n, t, code in [
    ("a space", '{"a": 1}', "not_canonical"),
    ("keys out of order", '{"b":1,"a":2}', "not_canonical"),
    ("keys in code point order, not UTF-16", '{"\ue000":1,"\U0001f600":2}', "not_canonical"),
    ("a number with a fraction of zero", '{"a":1.0}', "not_canonical"),
    ("an escape without need", '{"a":"\\u00e9"}', "not_canonical"),
    ("a space after it", '{"a":1} ', "not_canonical"),
    ("minus zero", '{"a":-0}', "not_canonical"),
    ("a number too large for a double", '{"a":1e400}', "not_canonical"),
    ("syntax", "{", "json_syntax"),
    ("a key twice", '{"a":1,"a":1}', "json_duplicate_key"),
]:
    add("canonical", n, t, code)


def doc(**k):
    d = dict(docs[0][1])
    for a, b in k.items():
        if b is None:
            d.pop(a)
        else:
            d[a] = b
    return jcs(d)


for n, t in [
    ("no registry", doc(registry=None)),
    ("no issuerId", doc(issuerId=None)),
    ("issuerId 0", doc(issuerId=0)),
    ("issuerId too large", doc(issuerId=2**32)),
    ("issuerId as text", doc(issuerId="1")),
    ("registry in upper case", doc(registry=REG.upper())),
    ("registry of another namespace", doc(registry=REG.replace("eip155", "cosmos"))),
    ("a field too many", doc(extra="1")),
    ("30 February", doc(issuedAt="2026-02-30")),
    ("a timestamp in place of a date", doc(issuedAt="2026-01-31T00:00:00Z")),
    ("expires before it is issued", doc(expiresAt="2026-01-30")),
    ("no subjectName", doc(subjectName=None)),
    ("an empty subjectName", doc(subjectName="")),
    ("metadata of numbers", doc(metadata={"a": 1})),
    ("metadata with an object named toString", doc(metadata={"a": {"toString": "7"}})),
    ("metadata with an object named valueOf", doc(metadata={"a": {"valueOf": [], "toString": None}})),
    ("metadata with a list of lists", doc(metadata={"constructor": [[["a"]]]})),
    ("metadata as a list", doc(metadata=[])),
    ("subjectName as an object", doc(subjectName={"length": 1})),
    ("a field named toString", doc(toString="x")),
]:
    add("document", n, t, "document_fields")
add("document", "not an object", "[]", "document_fields")
K = key.hex()


def s(n, t, code, k=K):
    add("sealed", n, t, code, documentKey=k)


s("empty", "", "sealed_malformed")
s("last character missing", good[:-1], "sealed_malformed")
s("four parts", ".".join(parts[:4]), "sealed_malformed")
s("six parts", good + ".", "sealed_malformed")
s("an encrypted key", parts[0] + ".AAAA." + ".".join(parts[2:]), "sealed_malformed")
s(
    "IV of 11 bytes",
    parts[0] + ".." + b64u(iv[:11]) + "." + parts[3] + "." + parts[4],
    "sealed_malformed",
)
s("tag of 12 bytes", ".".join(parts[:4]) + "." + parts[4][:16], "sealed_malformed")
s("base64 padding", good + "=", "sealed_malformed")
s(
    "bits after the end of the tag",
    good[:-1] + {"A": "B", "Q": "R", "g": "h", "w": "x"}[good[-1]],
    "sealed_malformed",
)
s("a space after it", good + " ", "sealed_malformed")
s("a byte order mark before it", "\ufeff" + good, "sealed_malformed")
s(
    "header: a name twice",
    b64u(json.dumps(H, separators=(",", ":")).replace("{", '{"v":1,', 1).encode())
    + "."
    + ".".join(parts[1:]),
    "sealed_malformed",
)
s(
    "header: a byte order mark",
    b64u(b"\xef\xbb\xbf" + json.dumps(H, separators=(",", ":")).encode())
    + "."
    + ".".join(parts[1:]),
    "sealed_malformed",
)
s("not ASCII", good + "é", "sealed_malformed")
s("header not JSON", b64u(b"{") + "." + ".".join(parts[1:]), "sealed_malformed")
for n, h in [
    ("alg A128KW", {**H, "alg": "A128KW"}),
    ("enc A256GCM", {**H, "enc": "A256GCM"}),
    ("no typ", {k: v for k, v in H.items() if k != "typ"}),
    ("version 2", {**H, "v": 2}),
    ("version as text", {**H, "v": "1"}),
    ("kid of 15 bytes", {**H, "kid": b64u(salt[:15])}),
    ("kid of 21 characters", {**H, "kid": b64u(salt)[:21]}),
    ("kid of 25 characters", {**H, "kid": b64u(salt) + "AAA"}),
    ("kid of 1 character", {**H, "kid": "A"}),
    ("kid with padding", {**H, "kid": b64u(salt) + "=="}),
    ("kid of other characters", {**H, "kid": "!" * 22}),
    ("empty kid", {**H, "kid": ""}),
    ("kid as an object", {**H, "kid": {"toString": "x"}}),
    ("no kid", {k: v for k, v in H.items() if k != "kid"}),
    ("one name more", {**H, "zip": "DEF"}),
    ("crit", {**H, "crit": ["v"]}),
    ("an array", [1]),
]:
    s("header: " + n, jwe(h), "sealed_header")
s("another key", good, "wrong_key", "00" * 16)
s(
    "one bit of the ciphertext flipped",
    ".".join(parts[:3]) + "." + flip(parts[3], 100) + "." + parts[4],
    "wrong_key",
)
s(
    "one bit of the IV flipped",
    parts[0] + ".." + flip(parts[2], 3) + "." + ".".join(parts[3:]),
    "wrong_key",
)
s(
    "header in another order",
    b64u(json.dumps(dict(reversed(H.items())), separators=(",", ":")).encode())
    + "."
    + ".".join(parts[1:]),
    "wrong_key",
)
s(
    "ciphertext truncated by a byte",
    ".".join(parts[:3])
    + "."
    + b64u(base64.urlsafe_b64decode(parts[3] + "==")[:-1])
    + "."
    + parts[4],
    "wrong_key",
)
s("not padded", jwe(H, plain), "sealed_padding")
s(
    "256 bytes of padding too many",
    jwe(H, plain + b" " * (-len(plain) % 256 + 256)),
    "sealed_padding",
)
s("padded with zeros", jwe(H, plain + b"\0" * (-len(plain) % 256)), "json_syntax")
json.dump(
    {
        "origin": "Made from the first document of documents.json by the same Python program; each must be refused with its code.",
        "cases": F,
    },
    open(HERE / "must-fail.json", "w"),
    indent=2,
    ensure_ascii=True,
)
