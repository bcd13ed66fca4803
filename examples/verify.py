"""Verifies one document with an Ethereum node and IPFS gateways alone: docs/formats.md §9 to §12.

    python examples/verify.py --rpc URL --registry eip155:<chainId>:0x<address> --ipfs URL [--ipfs URL …] <publicId>

Prints {status, valid, document, checks, asOf}, or {error} for a bad publicId. Exit code: 0 valid, 1 not, 2 unknown.
"""
import argparse
import hashlib
import json
import time
import eth_abi
import requests
import urllib3
from sealed_document import CAIP10, Refused, cid, unseal, read_document, read_public_id, refusing, require, valid_until

LARGEST_BLOCK, RAW = 1_048_576, {"Accept": "application/vnd.ipld.raw"}  # bytes; §10
DOCUMENT_ISSUED = "0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1"
NOT_ISSUED, VALID, EXPIRED, REVOKED, SUPERSEDED, DISTRUSTED = range(6)
VERIFICATION = f"(uint256,uint256,uint256,uint8,(uint32,uint16,{'uint40,' * 5}uint8),address,string,string,uint40)"

def rpc(args, method, *params):
    """§9: the result of one JSON-RPC call."""
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    with refusing("rpc_unreachable", requests.RequestException, RecursionError):
        response = requests.post(args.rpc, json=request, timeout=args.timeout)
        answer = response.json()
    require(response.status_code == 400 or 200 <= response.status_code < 300, "rpc_unreachable")
    require(isinstance(answer, dict) and answer.keys() & {"result", "error"}, "rpc_unreachable")
    require(answer.get("error") is None, "rpc_error")
    return answer.get("result")

def read_registry(args, chain_id, address, document_hash):
    """§9: what the registry answers about the document."""
    result = rpc(args, "eth_call", {"to": address, "data": "0xd1e30da4" + document_hash.hex()}, "latest")
    with refusing("no_registry", TypeError, ValueError, eth_abi.exceptions.DecodingError):
        [answer] = eth_abi.decode([VERIFICATION], bytes.fromhex(result[2:]))
    require("0x" + eth_abi.encode([VERIFICATION], [answer]).hex() == result.lower(), "no_registry")
    chain, block_number, block_time, status, (issuer_id, _, _, _, until, revoked_block, _, reason), *_ = answer
    revoked = [SUPERSEDED if reason == 4 else REVOKED]
    not_revoked = [DISTRUSTED, EXPIRED if 0 < until <= block_time else VALID]
    possible = [NOT_ISSUED] if issuer_id == 0 else revoked if revoked_block else not_revoked
    require(status in possible and max(chain, block_number, block_time) < 2**53, "no_registry")
    require(chain == int(chain_id), "wrong_chain")
    return answer

def read_event(args, address, document_hash, anchored_block, *record):
    """§9: the code of the check `event`. The record: issuerId, account and validUntil, as the registry has them."""
    block, topics = hex(anchored_block), [DOCUMENT_ISSUED, "0x" + document_hash.hex()]
    query = {"address": address, "fromBlock": block, "toBlock": block, "topics": topics}
    words = eth_abi.encode(["uint32", "address", "uint40"], record).hex()
    expected = [address, *topics, "0x" + words[:64], "0x" + words[64:]]
    for _first_or_second_time in range(2):
        try:
            logs = rpc(args, "eth_getLogs", query)
            if not isinstance(logs, list) or not logs:
                return "missing"
            if [text.lower() for text in (logs[0]["address"], *logs[0]["topics"], logs[0]["data"])] == expected:
                return "agrees"
        except Refused:
            return "unreachable"
        except (LookupError, TypeError, AttributeError):
            continue  # no such log
    return "contradicts"

def read_block(args, document_hash):
    """§10: the sealed bytes or None, and the code. It is never `erased`: no gateway here is the verifier's own."""
    path, codes = f"/ipfs/{cid(document_hash)}?format=raw", {"missing"}
    for gateway in args.ipfs:
        url, data, deadline = gateway.rstrip("/") + path, b"", time.monotonic() + args.timeout
        try:
            with (refusing("unreachable", requests.RequestException, urllib3.exceptions.HTTPError),
                  requests.get(url, headers=RAW, stream=True, timeout=args.timeout) as answer):
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

def run_checks(args, document_hash, key, report):
    """§11: yields each check as its name, outcome and code; puts document and block into the report."""
    _, chain_id, address = args.registry.split(":")
    try:
        answer = read_registry(args, chain_id, address, document_hash)
    except Refused as trouble:
        yield "chain", "unknown", str(trouble)
        return
    _, block_number, block_time, status, (issuer_id, _, anchored_block, _, until, *_), account, *_ = answer
    report["asOf"] = {"blockNumber": block_number, "blockHash": None, "blockTime": block_time}
    yield ("chain", "unknown", "head_stale") if args.now - block_time > args.max_head_age else ("chain", "pass", "read")
    yield ("record", "fail", "not_issued") if issuer_id == 0 else ("record", "pass", "issued")
    if issuer_id == 0:
        return
    yield ("supersession", "fail", "superseded") if status == SUPERSEDED else ("supersession", "pass", "not_superseded")
    yield ("revocation", "fail", "revoked") if status == REVOKED else ("revocation", "pass", "not_revoked")
    yield ("issuer", "fail", "distrusted") if status == DISTRUSTED else ("issuer", "pass", "trusted")
    sealed, code = read_block(args, document_hash)
    yield "payload", "pass" if code == "read" else "unknown", code
    try:
        if code == "read":
            data = unseal(sealed, key)
            yield "key", "pass", "opens"
            document = read_document(data)
            require(document["registry"] == args.registry, "other_registry")
            require(document["issuerId"] == issuer_id, "other_issuer")
            require(valid_until(document) == until, "other_expiry")
            report["document"] = document
            yield "content", "pass", "bound"
    except Refused as refusal:
        yield "key" if str(refusal) == "wrong_key" else "content", "fail", str(refusal)
    yield ("expiry", "fail", "expired") if 0 < until <= max(args.now, block_time) else ("expiry", "pass", "not_expired")
    code = read_event(args, address, document_hash, anchored_block, issuer_id, account, until)
    yield "event", "pass" if code == "agrees" else "unknown", code

def verify(args):
    """§12: the report. The first check that does not pass makes the status; the event decides nothing."""
    document_hash, key = read_public_id(args.publicId)
    report = {"status": "valid", "valid": None, "document": None, "checks": [], "asOf": None}
    for check, outcome, code in run_checks(args, document_hash, key, report):
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
    parser.add_argument("publicId", help="a decryption key: it is sent to nobody")
    args = parser.parse_args()
    if not CAIP10.fullmatch(args.registry):
        parser.error("--registry must be eip155:<chainId>:0x<address>, in lower case")
    try:
        report = verify(args)
    except Refused as refusal:
        report = {"error": str(refusal)}
    print(json.dumps(report, indent=2))
    raise SystemExit(0 if report.get("valid") else 2 if report.get("status", "unverifiable") == "unverifiable" else 1)

if __name__ == "__main__":
    main()
