"""Prints what examples/sealed_document.py makes of test/vectors/: the code of every refusal, and the documents that it opens."""
import json
import sys
from pathlib import Path

examples, vectors = map(Path, sys.argv[1:])
sys.path.insert(0, str(examples))
from sealed_document import Refused, cid, read_document, read_public_id, strict_json, unseal  # noqa: E402


def cases_of(file, member):
    return json.loads((vectors / file).read_text(encoding="utf-8"))[member]


def code_of(case):
    data = case["input"].encode()
    try:
        match case["format"]:
            case "publicId":
                read_public_id(case["input"])
            case "json":
                strict_json(data)
            case "canonical" | "document":
                read_document(data)
            case "sealed":
                read_document(unseal(data, bytes.fromhex(case["documentKey"])))
    except Refused as refusal:
        return str(refusal)
    return None


def opened(vector):
    document_hash, key = read_public_id(vector["publicId"])
    return {
        "documentHash": "0x" + document_hash.hex(),
        "cid": cid(document_hash),
        "documentKey": key.hex(),
        "document": read_document(unseal(vector["sealed"].encode(), key)),
    }


# It writes CIDs and reads none.
print(json.dumps({
    "codes": [code_of(case) for case in cases_of("must-fail.json", "cases") if case["format"] != "cid"],
    "opened": [opened(vector) for vector in cases_of("documents.json", "documents")],
}))
