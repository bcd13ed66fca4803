"""Verifies one document with an Ethereum node and IPFS gateways alone: docs/formats.md §9 to §12.

    python examples/verify.py --rpc URL --registry eip155:<chainId>:0x<address> --ipfs URL [--ipfs URL …] <publicId>

Prints {status, valid, document, checks, asOf}, or {error} for a malformed publicId. Exit code: 0 valid, 1 not valid, 2
could not be checked. The publicId is a decryption key: it is sent to nobody.
"""
import argparse
import hashlib
import json
import time

import eth_abi
import requests
import urllib3
from sealed_document import CAIP10, Refused, cid_of, open_sealed, read_public_id, refusing, require, valid_until

LARGEST_BLOCK, RAW = 1_048_576, {"Accept": "application/vnd.ipld.raw"}  # bytes; §10
DOCUMENT_ISSUED = "0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1"
NOT_ISSUED, VALID, EXPIRED, REVOKED, SUPERSEDED, DISTRUSTED = range(6)
# issuerName and issuerUri are strings. They decide nothing, so they are read as bytes, which may hold anything.
RECORD = "(uint32,uint16,uint40,uint40,uint40,uint40,uint40,uint8)"
VERIFICATION = f"(uint256,uint256,uint256,uint8,{RECORD},address,bytes,bytes,uint40)"

def rpc(options, method, *params):
    """§9: the result of one JSON-RPC call."""
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with refusing("rpc_unreachable", requests.RequestException, RecursionError):
        response = requests.post(options.rpc, json=request, timeout=options.timeout)
        response.raise_for_status()
        answer = response.json()
    require(isinstance(answer, dict) and answer.keys() & {"result", "error"}, "rpc_unreachable")
    require(answer.get("error") is None, "rpc_error")
    return answer.get("result")

def read_registry(options, chain_id, address, document_hash):
    """§9: what the registry answers about the document."""
    result = rpc(options, "eth_call", {"to": address, "data": "0xd1e30da4" + document_hash.hex()}, "latest")
    with refusing("no_registry", TypeError, ValueError, eth_abi.exceptions.DecodingError):
        [answer] = eth_abi.decode([VERIFICATION], bytes.fromhex(result[2:]))
    chain, _, block_time, status, (issuer_id, _, _, _, until, revoked_block, _, reason), *_ = answer
    revoked = [SUPERSEDED if reason == 4 else REVOKED]
    not_revoked = [DISTRUSTED, EXPIRED if 0 < until <= block_time else VALID]
    possible = [NOT_ISSUED] if issuer_id == 0 else revoked if revoked_block else not_revoked
    require(status in possible, "no_registry")
    require(chain == int(chain_id), "wrong_chain")
    return answer

def read_event(options, address, document_hash, anchored_block, issuer_id, account, until):
    """§9, §11: the code of the check `event`: whether the log says what the record says."""
    query = {"address": address, "fromBlock": hex(anchored_block), "toBlock": hex(anchored_block),
             "topics": [DOCUMENT_ISSUED, "0x" + document_hash.hex()]}
    words = eth_abi.encode(["uint32", "address", "uint40"], [issuer_id, account, until])
    for _first_or_second_time in range(2):
        try:
            logs = rpc(options, "eth_getLogs", query)
            if logs == []:
                return "missing"
            if bytes.fromhex(logs[0]["topics"][2][2:] + logs[0]["data"][2:]) == words:
                return "agrees"
        except (LookupError, TypeError, ValueError):
            return "unreachable"
    return "contradicts"

def read_block(options, document_hash):
    """§10: the sealed bytes or None, and the code. It is never `erased`: no gateway here is the verifier's own."""
    path, codes = f"/ipfs/{cid_of(document_hash)}?format=raw", {"missing"}
    for gateway in options.ipfs:
        url, data, deadline = gateway.rstrip("/") + path, b"", time.monotonic() + options.timeout
        try:
            with (refusing("unreachable", requests.RequestException, urllib3.exceptions.HTTPError),
                  requests.get(url, headers=RAW, stream=True, timeout=options.timeout) as answer):
                require(answer.status_code not in (404, 410), "missing")
                require(200 <= answer.status_code < 300, "unreachable")
                while chunk := answer.raw.read1(65_536, decode_content=True):
                    data += chunk
                    require(len(data) <= LARGEST_BLOCK and time.monotonic() < deadline, "unreachable")
            require(hashlib.sha256(data).digest() == document_hash, "wrong_bytes")
            return data, "read"
        except Refused as trouble:
            codes.add(str(trouble))
    return None, next(code for code in ("wrong_bytes", "unreachable", "missing") if code in codes)

def run_checks(options, document_hash, key, report):
    """§11: yields each check as its name, outcome and code; puts document and block into the report."""
    _, chain_id, address = options.registry.split(":")
    try:
        answer = read_registry(options, chain_id, address, document_hash)
    except Refused as trouble:
        yield "chain", "unknown", str(trouble)
        return
    _, block_number, block_time, status, (issuer_id, _, anchored_block, _, until, *_), account, *_ = answer
    report["asOf"] = {"blockNumber": block_number, "blockTime": block_time}
    yield ("chain", "unknown", "head_stale") if options.now - block_time > options.max_head_age else ("chain", "pass", "read")
    yield ("record", "fail", "not_issued") if issuer_id == 0 else ("record", "pass", "issued")
    if issuer_id == 0:
        return
    yield ("supersession", "fail", "superseded") if status == SUPERSEDED else ("supersession", "pass", "not_superseded")
    yield ("revocation", "fail", "revoked") if status == REVOKED else ("revocation", "pass", "not_revoked")
    yield ("issuer", "fail", "distrusted") if status == DISTRUSTED else ("issuer", "pass", "trusted")
    sealed, code = read_block(options, document_hash)
    yield "payload", "pass" if code == "read" else "unknown", code
    try:
        if code == "read":
            document = open_sealed(sealed, key)
            yield "key", "pass", "opens"
            require(document["registry"] == options.registry, "other_registry")
            require(document["issuerId"] == issuer_id, "other_issuer")
            require(valid_until(document) == until, "other_expiry")
            report["document"] = document
            yield "content", "pass", "bound"
    except Refused as refusal:
        yield "key" if str(refusal) == "wrong_key" else "content", "fail", str(refusal)
    expired = 0 < until <= max(options.now, block_time)
    yield ("expiry", "fail", "expired") if expired else ("expiry", "pass", "not_expired")
    code = read_event(options, address, document_hash, anchored_block, issuer_id, account, until)
    yield "event", "pass" if code == "agrees" else "unknown", code

def verify(options):
    """§12: the report. The first check that does not pass makes the status; the event decides nothing."""
    document_hash, key = read_public_id(options.publicId)
    report = {"status": "valid", "valid": None, "document": None, "checks": [], "asOf": None}
    for check, outcome, code in run_checks(options, document_hash, key, report):
        report["checks"].append({"check": check, "outcome": outcome, "code": code})
        if report["status"] == "valid" and outcome != "pass" and check != "event":
            report["status"] = "unverifiable" if outcome == "unknown" else "tampered" if check == "content" else code
    return report | {"valid": report["status"] == "valid"}

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rpc", required=True)
    parser.add_argument("--registry", required=True)
    parser.add_argument("--ipfs", default=[], action="append")
    parser.add_argument("--now", type=int, default=int(time.time()), help="seconds of the Unix epoch")
    parser.add_argument("--max-head-age", type=int, default=900, help="seconds; an older newest block is stale")
    parser.add_argument("--timeout", type=float, default=10, help="seconds for one request")
    parser.add_argument("publicId")
    options = parser.parse_args()
    if not CAIP10.fullmatch(options.registry):
        parser.error("--registry must be eip155:<chainId>:0x<address>, in lower case")
    try:
        report = verify(options)
    except Refused as refusal:
        report = {"error": str(refusal)}
    print(json.dumps(report, indent=2))
    raise SystemExit(0 if report.get("valid") else 2 if report.get("status", "unverifiable") == "unverifiable" else 1)

if __name__ == "__main__":
    main()
