"""Makes documents.json, batches.json, must-fail.json and presentations.json from the definitions in docs/formats.md, and from
nothing else of this project.

python3 -m venv venv && venv/bin/pip install -r tools/corpus/vectors/requirements.txt
venv/bin/python tools/corpus/vectors/generate.py && npx biome check --write tools/corpus/vectors
"""

import hashlib, hmac, json, base64, struct, sys, zlib
from datetime import date
from pathlib import Path
from Crypto.Hash import keccak
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# The tests have it write elsewhere, and compare.
HERE = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent


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
    (
        "eight entries of metadata, which need no decoy",
        {
            "subjectName": "Ada Lovelace",
            "subjectId": "18151210",
            "category": "licence",
            "issuedAt": "2026-01-31",
            "metadata": {"key%d" % i: "value %d" % i for i in range(8)},
            "registry": REG,
            "issuerId": 1,
        },
    ),
    (
        "every field, nine entries of metadata, named like fields and like members of every object",
        {
            "subjectName": "Ada Lovelace",
            "subjectId": "18151210",
            "category": "licence",
            "issuedAt": "2026-01-31",
            "expiresAt": "9999-12-30",
            "metadata": {
                k: "x"
                for k in [
                    "subjectName",
                    "registry",
                    "metadata",
                    "_sd_alg",
                    "..",
                    "constructor",
                    "toString",
                    "\U0001f600",
                    "\ue000",
                ]
            },
            "supersedes": "0x" + "0123456789abcdef" * 4,
            "registry": REG,
            "issuerId": 1,
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
    if isinstance(v, list):
        return "[" + ",".join(map(jcs, v)) + "]"
    if isinstance(v, int) and not isinstance(v, bool):
        return str(v)
    return json.dumps(
        v, ensure_ascii=False
    )  # escapes " \ and controls below 0x20 as RFC 8785 wants


def digest64(b):
    return b64u(hashlib.sha256(b).digest())


def disclose(d, key, salt):
    fields = ["category", "expiresAt", "issuedAt", "subjectId", "subjectName", "supersedes"]
    of_fields = [(k, d[k]) for k in fields if k in d]
    of_metadata = sorted(d.get("metadata", {}).items(), key=lambda e: e[0].encode("utf-16-be"))
    salts = hkdf(key, salt, V + b"/disclosure-salts", 16 * (len(of_fields) + len(of_metadata)))
    disclosures = [
        b64u(jcs([b64u(salts[16 * i : 16 * i + 16]), k, v]).encode())
        for i, (k, v) in enumerate(of_fields + of_metadata)
    ]
    digests = [digest64(one.encode()) for one in disclosures]
    lists = digests[: len(of_fields)], digests[len(of_fields) :]
    missing = [max(8, (len(one) + 7) // 8 * 8) - len(one) for one in lists]
    decoys = hkdf(key, salt, V + b"/decoys", 32 * sum(missing))
    for one, n in zip(lists, missing):
        one += [b64u(decoys[32 * i : 32 * i + 32]) for i in range(n)]
        decoys = decoys[32 * n :]
    claims = {
        "_sd": sorted(lists[0]),
        "_sd_alg": "sha-256",
        "issuerId": d["issuerId"],
        "metadata": {"_sd": sorted(lists[1])},
        "registry": d["registry"],
    }
    named = dict(zip((k for k, _ in of_fields), disclosures))
    under = dict(zip((k for k, _ in of_metadata), disclosures[len(of_fields) :]))
    return claims, {"fields": named, "metadata": under}


def header_of(salt, sd):
    return {
        "alg": "dir",
        "enc": "A128GCM",
        "kid": b64u(salt),
        "sd": sd,
        "typ": "document+jwe",
        "v": 1,
    }


def public_id(kind, issuer_id, h, key):
    body = bytes([kind]) + struct.pack(">I", issuer_id) + h + key
    return b58(body + hashlib.sha256(body).digest()[:4])


out = []
for i, (name, d) in enumerate(docs):
    plain = jcs(d).encode()
    salt = hmac.new(
        salt_sub,
        b"".join(map(lp, [V, b"default", b"order-%d" % i, struct.pack(">I", i), plain])),
        hashlib.sha256,
    ).digest()[:16]
    key = hkdf(doc_sub, salt, V + b"/document-key", 16)
    iv = hkdf(doc_sub, salt, V + b"/iv", 12)
    padded = plain + b" " * (-len(plain) % 256)
    claims, disclosures = disclose(d, key, salt)
    sd = digest64(jcs(claims).encode())
    head = b64u(json.dumps(header_of(salt, sd), separators=(",", ":")).encode())
    ct = AESGCM(key).encrypt(iv, padded, head.encode())
    jwe = (head + ".." + b64u(iv) + "." + b64u(ct[:-16]) + "." + b64u(ct[-16:])).encode()
    h = hashlib.sha256(jwe).digest()
    cid = "b" + base64.b32encode(b"\x01\x55\x12\x20" + h).decode().lower().rstrip("=")
    out.append(
        {
            "name": name,
            "document": d,
            "canonical": plain.decode(),
            "tenant": "default",
            "idempotencyKey": "order-%d" % i,
            "itemIndex": i,
            "salt": salt.hex(),
            "documentKey": key.hex(),
            "iv": iv.hex(),
            "disclosures": disclosures,
            "claims": claims,
            "sd": sd,
            "sealed": jwe.decode(),
            "documentHash": "0x" + h.hex(),
            "cid": cid,
            "publicId": public_id(1, d["issuerId"], h, key),
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


SD = d0["sd"]
H = header_of(salt, SD)
good = d0["sealed"]
parts = good.split(".")


def flip(s, i):
    c = s[i]
    return s[:i] + ("A" if c != "A" else "B") + s[i + 1 :]


def with_checksum(body):
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
add("publicId", "kind 3, right checksum", public_id(3, 1, hh, key), "public_id_kind")
add("publicId", "kind 255, right checksum", public_id(255, 1, hh, key), "public_id_kind")
add("publicId", "kind 0, right checksum", public_id(0, 1, hh, key), "public_id_kind")
add("publicId", "kind 3 of issuer 0", public_id(3, 0, hh, key), "public_id_kind")
add("publicId", "issuer 0, right checksum", public_id(1, 0, hh, key), "public_id_malformed")
add("publicId", "issuer 0, kind 2", public_id(2, 0, hh, key), "public_id_malformed")
add(
    "publicId",
    "key of 15 bytes, right checksum",
    public_id(1, 1, hh, key[:15]),
    "public_id_malformed",
)
add(
    "publicId",
    "key of 17 bytes, right checksum",
    public_id(1, 1, hh, key + b"\0"),
    "public_id_malformed",
)
add(
    "publicId",
    "without an issuer, right checksum",
    with_checksum(b"\x01" + hh + key),
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
add("cid", "base32, unused bits not zero", c[:-1] + chr(ord(c[-1]) + 1), "cid_malformed")
add("cid", "base32 in upper case", c.upper(), "cid_malformed")
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
    ("metadata without an entry", doc(metadata={})),
    ("metadata with the key _sd", doc(metadata={"_sd": "x"})),
    ("metadata with the key ...", doc(metadata={"...": "x"})),
    ("supersedes without 0x", doc(supersedes="ab" * 32)),
    ("supersedes in upper case", doc(supersedes="0x" + "AB" * 32)),
    ("supersedes of 31 bytes", doc(supersedes="0x" + "ab" * 31)),
    ("supersedes with a newline after it", doc(supersedes="0x" + "ab" * 32 + "\n")),
    ("supersedes as a list", doc(supersedes=["0x" + "ab" * 32])),
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
    ("no sd", {k: v for k, v in H.items() if k != "sd"}),
    ("sd of 31 bytes", {**H, "sd": "A" * 42}),
    ("sd of 33 bytes", {**H, "sd": "A" * 44}),
    ("sd with padding", {**H, "sd": SD + "="}),
    ("sd with spare bits", {**H, "sd": "A" * 42 + "B"}),
    ("sd as a number", {**H, "sd": 1}),
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
s("sd of zeros", jwe({**H, "sd": "A" * 43}), "other_disclosures")
s("sd of another document", jwe({**H, "sd": out[1]["sd"]}), "other_disclosures")
s(
    "sd of this document under another kid",
    jwe({**H, "kid": b64u(bytes(16))}),
    "other_disclosures",
)
other = jcs({**docs[0][1], "subjectName": "Ada Byron"}).encode()
s(
    "another document under this sd",
    jwe(H, other + b" " * (-len(other) % 256)),
    "other_disclosures",
)
s("padded with zeros", jwe(H, plain + b"\0" * (-len(plain) % 256)), "json_syntax")

# ---- disclosures
full = out[-1]
CLAIMS = full["claims"]
SHOWN = [full["disclosures"]["fields"]["category"], full["disclosures"]["metadata"]["registry"]]


def claims_of(**k):
    return {**CLAIMS, **k}


def with_lists(fields, metadata=None):
    return claims_of(_sd=fields, metadata={"_sd": metadata or CLAIMS["metadata"]["_sd"]})


LIST = CLAIMS["_sd"]
META = CLAIMS["metadata"]["_sd"]
MALFORMED, REPEATED = "claims_malformed", "claims_digest_repeated"
for n, c, code in [
    ("a digest twice in one list", with_lists(sorted(LIST[:7] + LIST[:1])), REPEATED),
    ("a digest in both lists", with_lists(sorted(LIST[:7] + META[:1])), REPEATED),
    ("a list of 7", with_lists(LIST[:7]), MALFORMED),
    ("a list of 9", with_lists(sorted(LIST + ["A" * 43])), MALFORMED),
    ("an empty list", claims_of(metadata={"_sd": []}), MALFORMED),
    ("a list of 72", with_lists(LIST, sorted(b64u(bytes([i] * 32)) for i in range(72))), MALFORMED),
    ("a list out of order", with_lists(LIST[::-1]), MALFORMED),
    ("a digest of 31 bytes", with_lists(sorted(LIST[:7] + ["A" * 42])), MALFORMED),
    ("a digest with spare bits", with_lists(sorted(LIST[:7] + ["A" * 42 + "B"])), MALFORMED),
    ("a digest with padding", with_lists(sorted(LIST[:7] + ["A" * 43 + "="])), MALFORMED),
    ("a digest as a number", with_lists(LIST[:7] + [1]), MALFORMED),
    ("no metadata", {k: v for k, v in CLAIMS.items() if k != "metadata"}, MALFORMED),
    ("metadata with a member more", claims_of(metadata={"_sd": META, "a": "b"}), MALFORMED),
    ("a member more", claims_of(iss="x"), MALFORMED),
    ("another algorithm", claims_of(_sd_alg="sha-512"), MALFORMED),
    ("issuerId 0", claims_of(issuerId=0), MALFORMED),
    ("issuerId as text", claims_of(issuerId="1"), MALFORMED),
    ("registry in upper case", claims_of(registry=REG.upper()), MALFORMED),
    ("a list", [CLAIMS], MALFORMED),
]:
    add("claims", n, jcs(c), code)


def own(*parts, text=None):
    """A disclosure that its issuer would have made, and claims that list it among the fields."""
    d = b64u((jcs(list(parts)) if text is None else text).encode())
    listed = sorted(LIST[:7] + [digest64(d.encode())])
    return {"claims": with_lists(listed), "disclosures": [d]}


def two(name, a, b, at="_sd"):
    ds = [b64u(jcs([b64u(bytes([i] * 16)), name, x]).encode()) for i, x in enumerate([a, b])]
    listed = [digest64(d.encode()) for d in ds]
    c = (
        with_lists(sorted(LIST[:6] + listed))
        if at == "_sd"
        else with_lists(LIST, sorted(META[:14] + listed))
    )
    return {"claims": c, "disclosures": ds}


def shown(*disclosures):
    return {"claims": CLAIMS, "disclosures": list(disclosures)}


def followed(v, *disclosures):
    return {**v, "disclosures": v["disclosures"] + list(disclosures)}


S16 = b64u(bytes(16))
BAD = "disclosure_malformed"
UNLISTED = b64u(jcs([S16, "category", "x"]).encode())
for n, v, code in [
    ("one twice", shown(*SHOWN, SHOWN[0]), "disclosure_repeated"),
    ("one of no list", shown(UNLISTED), "disclosure_unlisted"),
    ("one of another document", shown(d0["disclosures"]["fields"]["category"]), "disclosure_unlisted"),
    ("two of one field", two("category", "a", "b"), "disclosure_name_repeated"),
    ("two of one entry", two("k", "a", "a", "metadata"), "disclosure_name_repeated"),
    ("a salt of 15 bytes", own(b64u(bytes(15)), "category", "a"), BAD),
    ("a salt of 17 bytes", own(b64u(bytes(17)), "category", "a"), BAD),
    ("a salt with spare bits", own(S16[:-1] + "B", "category", "a"), BAD),
    ("no salt", own("category", "a"), BAD),
    ("a part more", own(S16, "category", "a", "b"), BAD),
    ("a number for a value", own(S16, "category", 1), BAD),
    ("an object", own(text='{"0":"a"}'), BAD),
    ("white space", own(text='["%s", "category", "a"]' % S16), BAD),
    ("half of a surrogate pair", own(text='["%s","subjectName","\\ud800"]' % S16), BAD),
    ("not base64url", shown("!" * 40), BAD),
    ("padding", shown(SHOWN[0] + "="), BAD),
    ("empty", shown(""), BAD),
    ("a field that no document has", own(S16, "name", "a"), "document_fields"),
    ("metadata as a field", own(S16, "metadata", "a"), "document_fields"),
    ("registry as a field", own(S16, "registry", REG), "document_fields"),
    ("__proto__ as a field", own(S16, "__proto__", "a"), "document_fields"),
    ("a value that breaks the rule of its field", own(S16, "category", "A"), "document_fields"),
    ("_sd as a field", own(S16, "_sd", "a"), "document_fields"),
    ("a malformed one, then one twice", shown("!", SHOWN[0], SHOWN[0]), "disclosure_repeated"),
    ("one of no list, then a malformed one", shown(UNLISTED, "!"), BAD),
    ("one of no list, then two of one field", {**two("category", "a", "b"), "disclosures": [UNLISTED] + two("category", "a", "b")["disclosures"]}, "disclosure_unlisted"),
    ("two of one field, then one of no list", followed(two("category", "a", "b"), UNLISTED), "disclosure_name_repeated"),
    ("two of a field that no document has", two("name", "a", "b"), "disclosure_name_repeated"),
]:
    add("disclosures", n, jcs(v), code)


# ---- batches
CHUNK = 28_339


def keccak256(b):
    return keccak.new(digest_bits=256, data=b).digest()


def entry(h, until):
    return h + until.to_bytes(5, "big")


def leaf(h, until):
    return keccak256(keccak256(h + until.to_bytes(32, "big")))


def tree_of(entries):
    """The nodes of the tree, and the entries in the order of their leaves."""
    entries = sorted(entries, key=lambda e: leaf(*e))
    n = len(entries)
    nodes = [b""] * (2 * n - 1)
    for i, e in enumerate(entries):
        nodes[2 * n - 2 - i] = leaf(*e)
    for i in reversed(range(n - 1)):
        nodes[i] = keccak256(b"".join(sorted(nodes[2 * i + 1 : 2 * i + 3])))
    return nodes, entries


def proof_of(nodes, i):
    proof = []
    while i > 0:
        proof.append(nodes[i + 1 if i % 2 else i - 1])
        i = (i - 1) // 2
    return proof


def hex32(b):
    return "0x" + b.hex()


def manifest_of(issuer_id, root, size, chunks):
    listed = [hex32(hashlib.sha256(c).digest()) for c in chunks]
    return {
        "chunks": listed,
        "issuerId": issuer_id,
        "registry": REG,
        "root": hex32(root),
        "size": size,
        "v": 1,
    }


def batch_of(entries, issuer_id=1):
    nodes, entries = tree_of(entries)
    n = len(entries)
    whole = b"".join(entry(*e) for e in entries)
    chunks = [whole[i : i + CHUNK * 37] for i in range(0, len(whole), CHUNK * 37)]
    manifest = manifest_of(issuer_id, nodes[0], n, chunks)
    digest = hex32(hashlib.sha256(jcs(manifest).encode()).digest())

    def block(i):
        h, until = entries[i]
        return {
            "documentHash": hex32(h),
            "issuerId": issuer_id,
            "manifest": digest,
            "proof": b64u(b"".join(proof_of(nodes, 2 * n - 2 - i))),
            "registry": REG,
            "root": hex32(nodes[0]),
            "size": n,
            "v": 1,
            "validUntil": until,
        }

    return entries, chunks, manifest, digest, block


def numbered(n):
    """The entries of a batch of the vectors, in no particular order."""
    return [
        (hashlib.sha256(b"document %d" % i).digest(), [0, 172_800, 4_102_444_800][i % 3])
        for i in range(n)
    ]


batches = []
for n in [1, 2, 3, 4, 5, 8, 9]:
    entries, chunks, manifest, digest, block = batch_of(numbered(n))
    documents = []
    for i, (h, until) in enumerate(entries):
        text = jcs(block(i))
        documents.append(
            {
                "documentHash": hex32(h),
                "validUntil": until,
                "block": text,
                "publicId": public_id(
                    2, 1, hashlib.sha256(text.encode()).digest(), bytes(range(16))
                ),
            }
        )
    batches.append(
        {
            "size": n,
            "root": manifest["root"],
            "manifest": digest,
            "manifestBlock": jcs(manifest),
            "chunks": [c.hex() for c in chunks],
            "documents": documents,
        }
    )

large = []
for n in [CHUNK, CHUNK + 1]:
    entries, chunks, manifest, digest, block = batch_of(numbered(n))
    large.append(
        {
            "size": n,
            "manifest": digest,
            "manifestBlock": jcs(manifest),
            "firstBlock": jcs(block(0)),
            "lastBlock": jcs(block(n - 1)),
        }
    )
json.dump(
    {
        "origin": "Computed by an independent Python program from the definitions in docs/formats.md, with hashlib and the keccak of the package pycryptodome.",
        "registry": REG,
        "issuerId": 1,
        "documentKey": bytes(range(16)).hex(),
        "entries": "Of every batch: documentHash = sha256 of the ASCII text `document i`, for i from 0 to size - 1; validUntil = 0, 172800, 4102444800 in turn.",
        "batches": batches,
        "large": large,
    },
    open(HERE / "batches.json", "w"),
    indent=2,
    ensure_ascii=True,
)

entries, chunks, manifest, digest, block = batch_of(numbered(5))
GOOD = block(0)
UP = ["0x" + "AB" * 32, "0x" + "ab" * 31, "ab" * 32, "0x" + "ab" * 32 + "\n", 1]


def block_with(**k):
    return jcs({**GOOD, **k})


raw = base64.urlsafe_b64decode(GOOD["proof"] + "==")
for n, t in [
    ("not JSON", "{"),
    ("empty", ""),
    ("a list", "[]"),
    ("a space", jcs(GOOD).replace(":", ": ", 1)),
    ("a member twice", jcs(GOOD).replace('"v":1', '"v":1,"v":1')),
    ("a byte order mark", "\ufeff" + jcs(GOOD)),
    ("no manifest", jcs({k: v for k, v in GOOD.items() if k != "manifest"})),
    ("a member more", block_with(a=1)),
    ("version 2", block_with(v=2)),
    ("issuerId 0", block_with(issuerId=0)),
    ("issuerId too large", block_with(issuerId=2**32)),
    ("registry in upper case", block_with(registry=REG.upper())),
    ("size 0", block_with(size=0)),
    ("size over 425,085,000", block_with(size=425_085_001)),
    ("size as text", block_with(size="5")),
    ("validUntil of 41 bits", block_with(validUntil=2**40)),
    ("validUntil below 0", block_with(validUntil=-1)),
    ("validUntil null", jcs(GOOD).replace('"validUntil":%d' % GOOD["validUntil"], '"validUntil":null')),
    ("a proof without its last sibling", block_with(proof=b64u(raw[:-64]))),
    ("a proof with a sibling more", block_with(proof=b64u(raw + bytes(32)))),
    ("an empty proof", block_with(proof="")),
    ("a proof of half a sibling", block_with(proof=b64u(raw[:-16]))),
    ("a proof with padding", block_with(proof=GOOD["proof"] + "=")),
    ("a proof as a list", block_with(proof=[])),
    ("a proof of another depth: of 5 as of 4,096", block_with(size=4096)),
    *[("documentHash %r" % v, block_with(documentHash=v)) for v in UP],
    ("root in upper case", block_with(root=UP[0])),
    ("manifest in upper case", block_with(manifest=UP[0])),
]:
    add("batchBlock", n, t, "batch_malformed")


def recount(name, m, cs, code):
    text = m if isinstance(m, str) else jcs(m)
    add("manifest", name, jcs({"manifest": text, "chunks": [c.hex() for c in cs]}), code)


def claiming(es, **k):
    """A manifest whose chunk holds these entries as they are, under the root of the good ones unless it says otherwise."""
    c = b"".join(entry(*e) for e in es)
    root = bytes.fromhex(manifest["root"][2:])
    return {**manifest_of(1, root, len(es), [c]), **k}, [c]


WRONG = "manifest_malformed"
[C] = chunks
recount("not JSON", "{", chunks, WRONG)
recount("a list", "[]", chunks, WRONG)
recount("a space", jcs(manifest).replace(":", ": ", 1), chunks, WRONG)
recount("no chunks listed", {**manifest, "chunks": []}, [], WRONG)
recount("a chunk listed too often", {**manifest, "chunks": manifest["chunks"] * 2}, [C, C], WRONG)
recount("size of two chunks", {**manifest, "size": CHUNK + 1}, chunks, WRONG)
recount("size 0", {**manifest, "size": 0}, chunks, WRONG)
recount("issuerId 0", {**manifest, "issuerId": 0}, chunks, WRONG)
recount("registry in upper case", {**manifest, "registry": REG.upper()}, chunks, WRONG)
recount("root in upper case", {**manifest, "root": UP[0]}, chunks, WRONG)
recount("a chunk in upper case", {**manifest, "chunks": [UP[0]]}, chunks, WRONG)
recount("a member more", {**manifest, "a": 1}, chunks, WRONG)
recount("version 2", {**manifest, "v": 2}, chunks, WRONG)
recount("no chunk", manifest, [], "manifest_chunk")
recount("a chunk more", manifest, [C, C], "manifest_chunk")
recount("a byte of a chunk changed", manifest, [C[:-1] + b"\1"], "manifest_chunk")
recount("size one more", {**manifest, "size": 6}, chunks, "manifest_chunk")
recount("size one less", {**manifest, "size": 4}, chunks, "manifest_chunk")
recount("half an entry more", *(lambda c: ({**manifest_of(1, bytes(32), 5, [c])}, [c]))(C + bytes(18)), "manifest_chunk")
recount("entries out of order", *claiming(entries[::-1]), "manifest_order")
recount("an entry twice", *claiming(entries[:1] + entries), "manifest_repeated")
twice = sorted(entries + [(entries[0][0], 1)], key=lambda e: leaf(*e))
recount("a documentHash twice, with two expiries", *claiming(twice), "manifest_repeated")
recount("an entry left out", *claiming(entries[:-1]), "manifest_root")
recount("an entry too many", *claiming(tree_of(numbered(6))[1]), "manifest_root")
recount("another root", {**manifest, "root": "0x" + "00" * 32}, chunks, "manifest_root")

json.dump(
    {
        "origin": "Made from documents.json by the same Python program; each must be refused with its code.",
        "cases": F,
    },
    open(HERE / "must-fail.json", "w"),
    indent=2,
    ensure_ascii=True,
)

# ---- presentations


def seconds_after(d):
    """validUntil of a document."""
    if "expiresAt" not in d:
        return 0
    return (date.fromisoformat(d["expiresAt"]) - date(1969, 12, 31)).days * 86_400


def presentation_of(v, disclosures, **k):
    return {
        "type": "document-registry-presentation",
        "v": 1,
        "registry": v["claims"]["registry"],
        "issuerId": v["claims"]["issuerId"],
        "documentHash": v["documentHash"],
        "claims": v["claims"],
        "disclosures": disclosures,
        "batch": None,
        "sealed": v["sealed"],
        "stateProof": None,
        **k,
    }


def chosen(v, fields=(), metadata=()):
    """The disclosures of these, and what they disclose."""
    of_fields, of_metadata = v["disclosures"]["fields"], v["disclosures"]["metadata"]
    disclosed = {k: v["document"][k] for k in fields}
    if metadata:
        disclosed["metadata"] = {k: v["document"]["metadata"][k] for k in metadata}
    return [of_fields[k] for k in fields] + [of_metadata[k] for k in metadata], disclosed


def deflated(data):
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    return c.compress(data) + c.flush()


def link_of(p):
    return "#presentation=" + b64u(deflated(jcs(p).encode()))


shows = []


def show(name, v, fields=(), metadata=(), until=None, **k):
    ds, disclosed = chosen(v, fields, metadata)
    p = presentation_of(v, ds, **k)
    fits = p["sealed"] is None and p["stateProof"] is None
    shows.append(
        {
            "name": name,
            "presentation": p,
            "link": link_of(p) if fits else None,
            # What a source has that is asked by documentHash.
            "source": None if p["sealed"] is not None else v["sealed"],
            "validUntil": seconds_after(v["document"]) if until is None else until,
            "disclosed": disclosed,
        }
    )


in_batch = [
    (bytes.fromhex(v["documentHash"][2:]), seconds_after(v["document"])) for v in out
]
_, _, _, _, block = batch_of(in_batch)
of_batch = {block(i)["documentHash"]: block(i) for i in range(len(in_batch))}


def path_of(v):
    b = of_batch[v["documentHash"]]
    return {k: b[k] for k in ["root", "validUntil", "proof"]}


minimal, licence, scripts, eight, every = out
show("nothing", minimal)
show("one field", minimal, ["subjectName"])
show("one field, the sealed document elsewhere", minimal, ["category"], sealed=None)
show("one entry of the metadata", licence, [], ["constructor"])
show("an expiry that the record has", licence, ["expiresAt"])
show("a document that expires, without its expiry", licence, ["category"], sealed=None)
show("names in many scripts", scripts, ["subjectName"], ["😀", "é"])
show(
    "everything, in another order",
    every,
    ["supersedes", "subjectName", "subjectId", "issuedAt", "expiresAt", "category"],
    ["subjectName", "registry", "metadata", "_sd_alg", "..", "constructor", "toString", "😀", "\ue000"],
)
show("a document of a batch", eight, ["issuedAt"], ["key3"], batch=path_of(eight))
show("a document of a batch, which expires, sealed elsewhere", every, ["subjectId"], batch=path_of(every), sealed=None)

fails = []


def fail(name, text, code, **k):
    """k: the source, the record's validUntil and the reader's registry, where they are not those of the minimal document."""
    fails.append(
        {"name": name, "text": text if isinstance(text, str) else jcs(text), "source": None, "validUntil": 0, "registry": REG, **k, "code": code}
    )


NO = "presentation_malformed"
one, _ = chosen(minimal, ["subjectName"])
P = presentation_of(minimal, one)
fail("nothing", "", NO)
fail("not JSON", "{", NO)
fail("a list", jcs([P]), NO)
fail("a byte order mark", "\ufeff" + jcs(P), NO)
fail("a member twice", jcs(P).replace('"v":1', '"v":1,"v":1'), NO)
fail("a member twice, in the claims", jcs(P).replace('"_sd_alg":', '"_sd_alg":"sha-256","_sd_alg":'), NO)
fail("half of a surrogate pair", jcs(P).replace('"sealed":"', '"sealed":"\\ud800'), NO)
fail("too deep", jcs(P).replace('"v":1', '"v":' + "[" * 40 + "]" * 40), NO)
for k in P:
    fail("no %s" % k, {a: b for a, b in P.items() if a != k}, NO)
STATE = {"header": "0xc0", "accountProof": [], "storageProof": []}
SLOT = {"key": "0x" + "00" * 32, "value": "0x" + "00" * 32, "proof": []}
PATH = path_of(minimal)
for n, k in [
    ("a member more", {"publicId": minimal["publicId"]}),
    ("another type", {"type": "document-registry-bundle"}),
    ("version 2", {"v": 2}),
    ("version as text", {"v": "1"}),
    ("version true", {"v": True}),
    ("registry in upper case", {"registry": REG.upper()}),
    ("another registry than the claims", {"registry": REG.replace(":31337:", ":1:")}),
    ("another issuer than the claims", {"issuerId": 2}),
    ("issuerId as text", {"issuerId": "1"}),
    ("issuerId 0", {"issuerId": 0, "claims": {**minimal["claims"], "issuerId": 0}}),
    ("documentHash in upper case", {"documentHash": "0x" + minimal["documentHash"][2:].upper()}),
    ("documentHash of 31 bytes", {"documentHash": minimal["documentHash"][:-2]}),
    ("claims as text", {"claims": jcs(minimal["claims"])}),
    ("claims with a member more", {"claims": {**minimal["claims"], "iss": "x"}}),
    ("claims out of order", {"claims": {**minimal["claims"], "_sd": minimal["claims"]["_sd"][::-1]}}),
    ("claims with seven digests", {"claims": {**minimal["claims"], "_sd": minimal["claims"]["_sd"][:7]}}),
    ("claims with spare bits", {"claims": {**minimal["claims"], "_sd": sorted(minimal["claims"]["_sd"][:7] + ["A" * 42 + "B"])}}),
    ("claims of another algorithm", {"claims": {**minimal["claims"], "_sd_alg": "sha-512"}}),
    ("disclosures as text", {"disclosures": one[0]}),
    ("disclosures as an object", {"disclosures": {"0": one[0]}}),
    ("a disclosure that is a number", {"disclosures": [1]}),
    ("71 disclosures", {"disclosures": ["A" * i for i in range(71)]}),
    ("batch false", {"batch": False}),
    ("batch a batch block", {"batch": of_batch[minimal["documentHash"]]}),
    ("batch without its expiry", {"batch": {k: v for k, v in PATH.items() if k != "validUntil"}}),
    ("a root in upper case", {"batch": {**PATH, "root": "0x" + PATH["root"][2:].upper()}}),
    ("validUntil of 41 bits", {"batch": {**PATH, "validUntil": 2**40}}),
    ("validUntil below 0", {"batch": {**PATH, "validUntil": -1}}),
    ("validUntil null", {"batch": {**PATH, "validUntil": None}}),
    ("a proof of half a sibling", {"batch": {**PATH, "proof": b64u(bytes(16))}}),
    ("a proof of 30 siblings", {"batch": {**PATH, "proof": b64u(bytes(32 * 30))}}),
    ("a proof with padding", {"batch": {**PATH, "proof": b64u(bytes(32)) + "="}}),
    ("a proof as a list", {"batch": {**PATH, "proof": []}}),
    ("sealed as a list", {"sealed": [minimal["sealed"]]}),
    ("stateProof empty", {"stateProof": {}}),
    ("stateProof with a member more", {"stateProof": {**STATE, "x": 1}}),
    ("a header in upper case", {"stateProof": {**STATE, "header": "0xC0"}}),
    ("an empty header", {"stateProof": {**STATE, "header": "0x"}}),
    ("half a byte in a proof", {"stateProof": {**STATE, "accountProof": ["0x0"]}}),
    ("an empty node in a proof", {"stateProof": {**STATE, "accountProof": ["0x"]}}),
    ("a slot with a member more", {"stateProof": {**STATE, "storageProof": [{**SLOT, "x": 1}]}}),
    ("a slot with a short key", {"stateProof": {**STATE, "storageProof": [{**SLOT, "key": "0x00"}]}}),
]:
    fail(n, {**P, **k}, NO)


def sealed_as(text, p=P, **k):
    """Bytes that an issuer anchored, whatever they are."""
    return {**p, "documentHash": hex32(hashlib.sha256(text.encode()).digest()), "sealed": text, **k}


def issuer_made(c, disclosures):
    """Claims that an issuer made itself, under a header that fits them."""
    return sealed_as(jwe(header_of(salt, digest64(jcs(c).encode()))), claims=c, disclosures=disclosures, issuerId=c["issuerId"], registry=c["registry"])


fail("no source has the sealed document", {**P, "sealed": None}, "missing")
fail("other bytes", {**P, "sealed": licence["sealed"]}, "wrong_bytes")
fail("other bytes, and none elsewhere", {**P, "sealed": ""}, "wrong_bytes")
fail("sealed bytes that are not a JWE", sealed_as("x"), "sealed_malformed")
fail("sealed bytes with a space after them", sealed_as(minimal["sealed"] + " "), "sealed_malformed")
fail("sealed bytes that are not ASCII", sealed_as(minimal["sealed"] + "é"), "sealed_malformed")
fail("a header without sd", sealed_as(jwe({k: v for k, v in H.items() if k != "sd"})), "sealed_header")
fail("a header with a name more", sealed_as(jwe({**H, "zip": "DEF"})), "sealed_header")
fail("claims of another document", {**P, "claims": eight["claims"]}, "other_disclosures")
fail("a decoy in the claims changed", {**P, "claims": {**minimal["claims"], "metadata": {"_sd": sorted(minimal["claims"]["metadata"]["_sd"][:7] + ["A" * 43])}}}, "other_disclosures")
for f in F:
    if f["format"] == "claims" and f["code"] == REPEATED:
        fail("claims with " + f["name"], issuer_made(json.loads(f["input"]), []), REPEATED)
    if f["format"] == "disclosures":
        v = json.loads(f["input"])
        fail("disclosures: " + f["name"], issuer_made(v["claims"], v["disclosures"]), f["code"])
fail("a repeated digest and a malformed disclosure", issuer_made(with_lists(sorted(LIST[:7] + LIST[:1])), ["x"]), REPEATED)
fail("expires before it is issued, both shown", issuer_made(*(lambda a, b: (with_lists(sorted(LIST[:6] + [digest64(a.encode()), digest64(b.encode())])), [a, b]))(
    b64u(jcs([S16, "issuedAt", "2026-01-31"]).encode()), b64u(jcs([S16, "expiresAt", "2026-01-30"]).encode()))), "document_fields")
ELSEWHERE = {"registry": REG.replace(":31337:", ":1:")}
fail("of another registry than the one that is trusted", P, "other_registry", **ELSEWHERE)
P0 = jcs({**P, "batch": {**PATH, "validUntil": 0}})
P0 = P0.replace('"v":1', '"v":1.0').replace('"issuerId":1', '"issuerId":1e0').replace('"validUntil":0', '"validUntil":-0')
fail("numbers in other texts, and of another registry", P0, "other_registry", **ELSEWHERE)
fail("a version that is not whole", jcs(P).replace('"v":1', '"v":1.5'), NO)
ds, _ = chosen(licence, ["expiresAt"])
LATER = seconds_after(licence["document"]) + 86_400
fail("an expiry that the record does not have", presentation_of(licence, ds), "other_expiry", validUntil=LATER)
fail("an expiry, and a record without", presentation_of(licence, ds), "other_expiry")

Q = jcs({**P, "sealed": None}).encode()
for n, text in [
    ("not base64url", "!"),
    ("padding", b64u(deflated(Q)) + "="),
    ("not DEFLATE", b64u(b"\xff" * 100)),
    ("with the header of zlib", b64u(zlib.compress(Q))),
    ("cut off", b64u(deflated(Q)[:-8])),
    ("bytes after it", b64u(deflated(Q) + b"\0")),
    ("more than 65,536 bytes", b64u(deflated(Q + b" " * 65_536))),
    ("not a presentation", b64u(deflated(b"{}"))),
]:
    fails.append({"name": "link: " + n, "link": "#presentation=" + text, "code": NO})

json.dump(
    {
        "origin": "Made from documents.json by the same Python program.",
        "registry": REG,
        "cases": shows,
        "mustFail": fails,
    },
    open(HERE / "presentations.json", "w"),
    indent=2,
    ensure_ascii=True,
)
