"""Prints what tools/examples/verify.py makes of tools/corpus/vectors/, and of documents and headers at the edges of docs/formats.md.

Chain and gateway are left out: the record is one that a good document would fit.
"""
import json
import sys
from base64 import urlsafe_b64encode
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace

import eth_abi
import rfc8785
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

examples, vectors = map(Path, sys.argv[1:])
sys.path.insert(0, str(examples))
import verify  # noqa: E402

read_block = verify.read_block

REGISTRY = "eip155:31337:0x5fbdb2315678afecb367f032d93f642f64180aa3"
KEY = bytes(16)
HEADER = {"alg": "dir", "enc": "A128GCM", "kid": "A" * 22, "sd": "A" * 43, "typ": "document+jwe", "v": 1}


def base64url(data):
    return urlsafe_b64encode(data).rstrip(b"=")


def header_for(document):
    return HEADER | {"sd": verify.sd_of(KEY, bytes(16), **json.loads(rfc8785.dumps(document)))}


def seal(plaintext, header=None):
    head, iv = base64url(header or rfc8785.dumps(HEADER)), bytes(12)
    padded = plaintext.ljust((len(plaintext) + 255) // 256 * 256)
    box = AESGCM(KEY).encrypt(iv, padded, head)
    return b".".join([head, b"", base64url(iv), base64url(box[:-16]), base64url(box[-16:])])


LEFT_OUT = "event", "identity"


def judged(sealed, key, issuer_id=1, valid_until=0, now=0, registry=REGISTRY, shown=None):
    """The document, or of a presentation its part, and all checks but those of event and domain, with their codes."""
    record = (1, 1, 1, valid_until, 0, 0, 0, 0, False)
    account = ("0x" + "11" * 20, 1, 3, 1, 0, 0, 0)
    reading = (int(registry.split(":")[1]), 1, 0, verify.VALID, record, account, verify.NOBODY, verify.NO_ISSUER)
    answers = {"eth_call": "0x" + eth_abi.encode([verify.VERIFICATION], [reading]).hex(), "eth_getLogs": []}
    verify.rpc = lambda args, method, *params: (answers[method], None)
    verify.read_block = lambda args: ("read", sealed)
    _, chain_id, address = registry.split(":")
    args = SimpleNamespace(
        registry=registry, chain_id=chain_id, address=address, kind=1, issuer=issuer_id, hash=bytes(32), key=key,
        shown=shown, batch=shown and shown["batch"], ipfs=[], timeout=1, no_identity=True, now=now, max_head_age=now)
    if shown:
        args.hash = bytes.fromhex(shown["documentHash"][2:])
        if sealed is None or shown["sealed"] is not None:
            verify.read_block = read_block
    report = {"document": None, "disclosed": None}
    checks = [check for check in verify.verify(args, report) if check[0] not in LEFT_OUT]
    return checks, report["disclosed" if shown else "document"]


def opened(*given):
    """The document, and the check that did not pass with its code."""
    checks, document = judged(*given)
    failed = [check for check in checks if check[1] not in verify.PASSED and check[0] != "dating"]
    assert len(failed) == (document is None), checks
    return document, failed[0] if failed else None


def presented(case, text):
    """The disclosed fields of a presentation, and the code with which it is refused."""
    try:
        shown = verify.read_presentation(text.encode())
    except Exception:
        return None, "presentation_malformed"
    source = case["source"] and case["source"].encode()
    registry = case.get("registry", REGISTRY)
    checks, disclosed = judged(source, None, shown["issuerId"], case["validUntil"], 0, registry, shown)
    failed = [check for check in checks if check[1] not in verify.PASSED and check[0] != "dating"]
    return disclosed, failed[0][1] if failed else None


def cases_of(file, member):
    return json.loads((vectors / file).read_text(encoding="utf-8"))[member]


def code_of(case):
    if case["format"] == "publicId":
        try:
            verify.read_public_id(case["input"])
        except Exception:
            return "public_id_malformed"
        return None
    data = case["input"].encode()
    if case["format"] == "disclosures":
        given = json.loads(case["input"])
        code, part = verify.read_disclosures(given["claims"], given["disclosures"])
        missing = {"subjectName": "-", "subjectId": "0", "category": "a", "issuedAt": "1970-01-02", "registry": REGISTRY, "issuerId": 1}
        try:
            verify.read_document(missing | (part or {}))
        except Exception:
            return "document_format"
        return code
    if case["format"] == "batchBlock":
        try:
            verify.read_batch_block(data)
        except Exception:
            return "batch_malformed"
        return None
    sealed, key = (data, bytes.fromhex(case["documentKey"])) if case["format"] == "sealed" else (seal(data), KEY)
    _, failed = opened(sealed, key)
    return failed and failed[1]


def valid_until(document):
    if "expiresAt" not in document:
        return 0
    day = datetime.strptime(document["expiresAt"], "%Y-%m-%d").replace(tzinfo=timezone.utc)
    return int(day.timestamp()) + 86_400


def golden(vector):
    _, issuer_id, document_hash, key = verify.read_public_id(vector["publicId"])
    record = issuer_id, valid_until(vector["document"])
    document, _ = opened(vector["sealed"].encode(), key, *record)
    return {"documentHash": "0x" + document_hash.hex(), "documentKey": key.hex(), "document": document}


GOOD = {"subjectName": "Ada", "subjectId": "1", "category": "a", "issuedAt": "2026-01-31", "registry": REGISTRY, "issuerId": 1}
TAKEN = {
    "name of 200 code points": {"subjectName": "😀" * 200},
    "subjectId of 64": {"subjectId": "0" * 64},
    "category of 64": {"category": "a" * 64},
    "issued and expired on the first day": {"issuedAt": "1970-01-02", "expiresAt": "1970-01-02"},
    "the last day": {"issuedAt": "9999-12-30", "expiresAt": "9999-12-30"},
    "29 February": {"issuedAt": "2024-02-29"},
    "8 entries": {"metadata": {f"{number}": "" for number in range(8)}},
    "9 entries, out of order": {"metadata": {name: "" for name in "ihgfedcba"}},
    "supersedes": {"supersedes": "0x" + "09af" * 16},
    "64 entries": {"metadata": {f"{number}": "" for number in range(64)}},
    "a metadata key of 64 code points": {"metadata": {"😀" * 64: ""}},
    "32,768 bytes": {"metadata": {"k": "é" * 16_383 + "e"}},
}
REFUSED = {
    "name of 201 code points": {"subjectName": "a" * 201},
    "a C1 control": {"subjectName": "\x85"},
    "a newline at the end of the name": {"subjectName": "a\n"},
    "a newline at the end of subjectId": {"subjectId": "1\n"},
    "digits of another script": {"subjectId": "١"},
    "subjectId of 65": {"subjectId": "0" * 65},
    "category of 65": {"category": "a" * 65},
    "a newline at the end of the category": {"category": "a\n"},
    "the day before the first": {"issuedAt": "1970-01-01"},
    "the day after the last": {"expiresAt": "9999-12-31"},
    "a basic date": {"issuedAt": "20260131"},
    "a date without zeros": {"issuedAt": "2026-1-31"},
    "a date at midnight": {"issuedAt": "2026-01-31T00:00:00Z"},
    "seconds for a date": {"issuedAt": 1_769_817_600},
    "29 February": {"issuedAt": "2025-02-29"},
    "expiresAt null": {"expiresAt": None},
    "metadata null": {"metadata": None},
    "no entry": {"metadata": {}},
    "65 entries": {"metadata": {f"{number}": "" for number in range(65)}},
    "an empty metadata key": {"metadata": {"": ""}},
    "a metadata key of 65": {"metadata": {"k" * 65: ""}},
    "metadata __proto__": {"metadata": {"__proto__": ""}},
    "metadata _sd": {"metadata": {"_sd": ""}},
    "metadata ...": {"metadata": {"...": ""}},
    "supersedes null": {"supersedes": None},
    "supersedes in upper case": {"supersedes": "0x" + "09AF" * 16},
    "a newline at the end of supersedes": {"supersedes": "0x" + "09af" * 16 + "\n"},
    "32,769 bytes": {"metadata": {"k": "é" * 16_384}},
    "issuerId true": {"issuerId": True},
    "issuerId 1.5": {"issuerId": 1.5},
    "a newline at the end of the registry": {"registry": REGISTRY + "\n"},
}
CANONICAL = rfc8785.dumps(GOOD | {"metadata": {"k": "é"}})
BYTES = {
    "a metadata key twice": CANONICAL.replace(b'{"k":', b'{"k":"","k":'),
    "an escape without need": CANONICAL.replace("é".encode(), b"\\u00e9"),
    "half of a surrogate pair": CANONICAL.replace("é".encode(), b"\\ud800"),
    "no UTF-8": CANONICAL.replace("é".encode(), b"\xe9"),
    "UTF-16": CANONICAL.decode().encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf" + CANONICAL,
    "issuerId 1.0": CANONICAL.replace(b'"issuerId":1', b'"issuerId":1.0'),
}
HEADER |= {"sd": header_for(GOOD)["sd"]}
HEADERS_TAKEN = {
    "another order, white space": b' {"v": 1 ,\n' + rfc8785.dumps({**HEADER, "v": 1})[1:].replace(b',"v":1', b""),
    "an escape": rfc8785.dumps(HEADER).replace(b'"dir"', b'"\\u0064ir"'),
    "v is 1.0": rfc8785.dumps(HEADER).replace(b'"v":1', b'"v":1.0'),
}
HEADERS_REFUSED = {
    "a name twice": rfc8785.dumps(HEADER).replace(b'"v":1', b'"v":1,"v":1'),
    "a name twice, once escaped": rfc8785.dumps(HEADER).replace(b'"v":1', b'"\\u0076":1,"v":1'),
    "v is true": rfc8785.dumps(HEADER | {"v": True}),
    "spare bits in kid": rfc8785.dumps(HEADER | {"kid": "A" * 21 + "B"}),
    "a newline after kid": rfc8785.dumps(HEADER | {"kid": "A" * 22 + "\n"}),
    "spare bits in sd": rfc8785.dumps(HEADER | {"sd": "A" * 42 + "B"}),
    "a newline after sd": rfc8785.dumps(HEADER | {"sd": HEADER["sd"] + "\n"}),
    "no sd": rfc8785.dumps({name: value for name, value in HEADER.items() if name != "sd"}),
    "pairs in an array": rfc8785.dumps([[name, value] for name, value in HEADER.items()]),
    "UTF-16": rfc8785.dumps(HEADER).decode().encode("utf-16"),
}


def astray():
    """What is taken and should be refused, or the other way round."""
    for name, changes in TAKEN.items():
        document = GOOD | changes
        sealed = seal(rfc8785.dumps(document), rfc8785.dumps(header_for(document)))
        if opened(sealed, KEY, 1, valid_until(document)) != (document, None):
            yield name
    for name, changes in REFUSED.items():
        if opened(seal(rfc8785.dumps(GOOD | changes)), KEY) != (None, ("content", "document_format")):
            yield name
    for name, data in BYTES.items():
        if opened(seal(data), KEY) != (None, ("content", "document_format")):
            yield name
    if opened(seal(b""), KEY) != (None, ("content", "sealed_format")):
        yield "an empty ciphertext"
    for name, header in HEADERS_TAKEN.items():
        if opened(seal(rfc8785.dumps(GOOD), header), KEY) != (GOOD, None):
            yield name
    for name, header in HEADERS_REFUSED.items():
        if opened(seal(rfc8785.dumps(GOOD), header), KEY) != (None, ("content", "sealed_format")):
            yield name
    early = GOOD | {"issuedAt": "1970-01-02"}
    if opened(seal(rfc8785.dumps(early)), KEY) != (None, ("content", "other_disclosures")):
        yield "the header of another document"
    dated = seal(rfc8785.dumps(early), rfc8785.dumps(header_for(early)))
    for now, code in ((86_399 - 50_400, "in_future"), (86_400 - 50_400, "not_in_future")):
        if judged(dated, KEY, now=now)[0][-1] != ("dating", code):
            yield f"{code} at {now}"
    [vector, *_] = cases_of("documents.json", "documents")
    for space in (" ", "\n", "\u3000"):
        if code_of({"format": "publicId", "input": vector["publicId"] + space}) is None:
            yield f"{space!a} after the publicId"


# What it has to read of the formats. No text at all, sealed, is bad padding.
cases = [case for case in cases_of("must-fail.json", "cases") if (case["format"], case["name"]) != ("json", "nothing")]
READ = ["publicId", "json", "canonical", "document", "sealed", "batchBlock", "disclosures"]
print(json.dumps({
    "codes": [code_of(case) for case in cases if case["format"] in READ],
    "golden": [golden(vector) for vector in cases_of("documents.json", "documents")],
    "presented": [presented(case, json.dumps(case["presentation"])) for case in cases_of("presentations.json", "cases")],
    "notPresented": [presented(case, case["text"]) for case in cases_of("presentations.json", "mustFail") if "text" in case],
    "astray": list(astray()),
}))
