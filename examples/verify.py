"""Verifies one document with an Ethereum node and IPFS gateways alone. Made from docs/formats.md; each § is one of its.

    python examples/verify.py --rpc URL --registry eip155:<chainId>:0x<address> [--ipfs URL …] <publicId or ->
Prints {status, valid, document, checks, asOf}. Exit code: 0 valid, 1 not valid, 2 unverifiable, or bad arguments.
It tells fewer codes of `content` apart: all of §4 and §5 is `sealed_format`, all of §1 and §2 `document_format`.
"""
import argparse, base64, contextlib, hashlib, io, json, re, sys, time
from datetime import date
import base58, eth_abi, requests, rfc8785
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pydantic import BaseModel, Field, constr
CAIP10 = "^eip155:([1-9][0-9]{0,31}):(0x[0-9a-f]{40})$"
HEADER = rb'{"alg":"dir","enc":"A128GCM","kid":"([\w-]{21}[AQgw])","sd":"([\w-]{42}[AEIMQUYcgkosw048])","typ":"document\+jwe","v":1}'
PLACE = "(0x[0-9a-f]{64} ){2}0x(0|[1-9a-f][0-9a-f]{0,12}|1[0-9a-f]{13})"
VERIFICATION = f"(uint256,uint256,uint256,uint8,(uint32,uint16,{'uint40,' * 5}uint8),address,string,string,uint40)"
NOT_ISSUED, VALID, EXPIRED, REVOKED, SUPERSEDED, DISTRUSTED = range(6)
REFUSED = {"_sd", "...", "__proto__"}  # as keys of metadata
PASSED = "read issued not_superseded not_revoked trusted opens bound not_expired not_in_future agrees".split()

class Document(BaseModel, extra="forbid", strict=True):  # §2
    subjectName: constr(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,200}$")
    subjectId: constr(pattern="^[0-9]{1,64}$")
    category: constr(pattern="^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=64)
    issuedAt: date = Field(ge=date(1970, 1, 2))
    expiresAt: date = Field(date(9999, 12, 30), le=date(9999, 12, 30))
    metadata: dict[constr(min_length=1, max_length=64), str] = Field({}, min_length=1, max_length=64)
    supersedes: constr(pattern="^0x[0-9a-f]{64}$") = ""
    registry: constr(pattern=CAIP10)
    issuerId: int = Field(ge=1, le=4_294_967_295)

def require(holds):
    if not holds: raise ValueError

def read_public_id(text):  # §7: the issuerId, the documentHash and the documentKey
    data = base58.b58decode(text)
    require(text.isalnum() and data[0] == 1 and hashlib.sha256(data[:53]).digest()[:4] == data[53:] and any(data[1:5]))
    return int.from_bytes(data[1:5]), data[5:37], data[37:53]

def rpc(args, method, *params):  # §9: the result and the error of one JSON-RPC call
    response = requests.post(args.rpc, json=dict(jsonrpc="2.0", id=1, method=method, params=params), timeout=args.timeout)
    answer = json.loads(response.content.decode())  # not response.json(): it takes UTF-16, too
    result, error = answer.get("result"), answer.get("error")
    require(response.status_code in (*range(200, 300), 400) and (error is not None or "result" in answer))
    require(error is None or (result, type(error["code"]), type(error["message"])) == (None, int, str))
    return result, error

def read_block(args):  # §6, §10: the code of `payload`, and the sealed bytes
    cid = "b" + base64.b32encode(b"\x01\x55\x12\x20" + args.hash).decode().lower().rstrip("=")
    options = {"headers": {"Accept": "application/vnd.ipld.raw"}, "stream": True, "timeout": args.timeout}
    codes = dict.fromkeys(args.ipfs, "unreachable")
    for url in args.ipfs:
        with contextlib.suppress(Exception), requests.get(f"{url}/ipfs/{cid}?format=raw", **options) as answer:
            data = answer.raw.read(1_048_577, decode_content=True)
            good = answer.status_code // 100 == 2 and len(data) <= 1_048_576
            codes[url] = "wrong_bytes" if good else "missing" if answer.status_code in (404, 410) else "unreachable"
            if good and hashlib.sha256(data).digest() == args.hash: return "read", data
    return max(codes.values(), key=["missing", "unreachable", "wrong_bytes"].index, default="missing"), None

def sd_of(key, kid, metadata={}, **claims):  # §5: the digest of the claims of a document; metadata is in their order
    text = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    digest = lambda data: text(hashlib.sha256(data).digest())
    derive = lambda info: io.BytesIO(HKDF(SHA256(), 8_160, kid, b"document-registry/v1/" + info).derive(key))
    salts, decoys, lists = derive(b"disclosure-salts"), derive(b"decoys"), []
    for part in {name: claims.pop(name) for name in sorted(claims.keys() - {"issuerId", "registry"})}, metadata:
        digests = [digest(text(rfc8785.dumps([text(salts.read(16)), *entry])).encode()) for entry in part.items()]
        lists.append(sorted(digests + [text(decoys.read(32)) for _ in range(-len(part) % 8 if part else 8)]))
    return digest(rfc8785.dumps(claims | {"_sd": lists[0], "_sd_alg": "sha-256", "metadata": {"_sd": lists[1]}})).encode()

def read_event(args, block, record, code="unreachable", again=True):  # §9. The record: issuerId, account, validUntil
    topics = ["0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1", "0x" + args.hash.hex()]
    query = {"address": args.address, "fromBlock": hex(block), "toBlock": hex(block), "topics": topics}
    expected = [args.address, *topics, f"0x{record[0]:064x}", "0x" + eth_abi.encode(["address", "uint40"], record[1:]).hex()]
    with contextlib.suppress(Exception):  # whatever fails leaves the code as it is
        logs, error = rpc(args, "eth_getLogs", query)
        require(error is None and isinstance(logs, list))
        code = "contradicts" if logs else "missing"
        found = [logs[0]["address"].lower(), *logs[0]["topics"], logs[0]["data"]]
        place = " ".join(logs[0][name] for name in ("transactionHash", "blockHash", "logIndex"))
        code = "agrees" if found == expected and re.fullmatch(PLACE, place) else "contradicts"
    return read_event(args, block, record, again=False) if code == "contradicts" and again else code

def verify(args, report):  # §11: yields the name and the code of each check
    fails_as = "chain", "rpc_unreachable"  # what is told when one of the next lines fails
    try:
        result, error = rpc(args, "eth_call", {"to": args.address, "data": "0xd1e30da4" + args.hash.hex()}, "latest")
        fails_as = "chain", "no_registry" if error is None else "rpc_error"
        reading = eth_abi.decode([VERIFICATION], bytes.fromhex(result[2:]))
        require("0x" + eth_abi.encode([VERIFICATION], reading).hex() == result and max(reading[0][:3]) < 2**53)
        chain, number, block_time, status, (issuer, _, block, _, until, revoked, _, reason), account, *_ = reading[0]
        kept = [DISTRUSTED, EXPIRED if 0 < until <= block_time else VALID]
        require(status in ([NOT_ISSUED] if not issuer else [SUPERSEDED if reason == 4 else REVOKED] if revoked else kept))
        fails_as = "chain", "wrong_chain"
        require(chain == int(args.chain_id))
        report["asOf"] = {"blockNumber": number, "blockHash": None, "blockTime": block_time}
        yield "chain", "head_stale" if args.now - block_time > args.max_head_age else "read"
        fails_as = "record", "not_issued"
        require(issuer == args.issuer)
        yield "record", "issued"
        yield "supersession", "superseded" if status == SUPERSEDED else "not_superseded"
        yield "revocation", "revoked" if status == REVOKED else "not_revoked"
        yield "issuer", "distrusted" if status == DISTRUSTED else "trusted"
        code, sealed = read_block(args)
        fails_as = "payload", code
        require(sealed is not None)
        yield "payload", "read"
        fails_as = "content", "sealed_format"  # §5
        parts = [base64.urlsafe_b64decode(part + b"==") for part in sealed.split(b".")]
        require(b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts) == sealed)
        header, encrypted_key, iv, ciphertext, tag = parts  # more than six colons in the header: a name came twice
        require((len(encrypted_key), len(iv), len(tag), header.count(b":")) == (0, 12, 16, 6))
        kid, sd = re.fullmatch(HEADER, rfc8785.dumps(json.loads(header.decode()))).groups()
        fails_as = "key", "wrong_key"
        padded = AESGCM(args.key).decrypt(iv, ciphertext + tag, sealed.split(b".")[0])
        fails_as = "content", "sealed_format"  # §4
        data = padded.rstrip(b" ")  # canonical JSON does not end with a space
        require(0 < len(padded) == (len(data) + 255) // 256 * 256)
        yield "key", "opens"
        fails_as = "content", "document_format"  # §1 to §3
        typed = Document.model_validate_json(data)
        document = typed.model_dump(mode="json", exclude_unset=True)
        require(rfc8785.dumps(document) == data and typed.issuedAt <= typed.expiresAt)  # canonical: no key came twice
        require(not REFUSED & typed.metadata.keys() and len("".join(sum(typed.metadata.items(), ())).encode()) <= 32_768)
        issued, last = ((day - date(1970, 1, 1)).days * 86_400 for day in (typed.issuedAt, typed.expiresAt))
        fails_as = "content", "other_disclosures"
        require(sd_of(args.key, base64.urlsafe_b64decode(kid + b"=="), **document) == sd)
        here, theirs = typed.registry == args.registry, typed.issuerId == issuer
        fails_as = "content", "other_expiry" if here and theirs else "other_issuer" if here else "other_registry"
        require(here and theirs and until == (last + 86_400 if "expiresAt" in document else 0))
        report["document"] = document
        yield "content", "bound"
    except Exception: yield fails_as
    if fails_as[0] not in ("chain", "record"):
        yield "expiry", "expired" if 0 < until <= max(args.now, block_time) else "not_expired"
        if report["document"]:  # its day begins in UTC+14, 50,400 s before UTC
            yield "dating", "in_future" if issued - 50_400 > max(args.now, block_time) else "not_in_future"
        yield "event", read_event(args, block, (issuer, account, until))

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in "--rpc", "--registry": parser.add_argument(name, required=True)
    parser.add_argument("--ipfs", default=[], action="append", type=lambda url: url.rstrip("/"))
    parser.add_argument("--max-head-age", type=int, default=900, help="seconds; an older newest block is stale")
    parser.add_argument("--timeout", type=float, default=10, help="seconds that a node or gateway may be silent")
    parser.add_argument("publicId", help="a decryption key, sent to nobody; - reads it from standard input")
    args = parser.parse_args(namespace=argparse.Namespace(now=int(time.time())))
    try:
        args.chain_id, args.address = re.fullmatch(CAIP10, args.registry).groups()
        args.issuer, args.hash, args.key = read_public_id(input().strip() if args.publicId == "-" else args.publicId)
    except Exception: parser.error("the registry or the publicId is malformed")
    report = {"status": "valid", "valid": None, "document": None, "checks": [], "asOf": None}
    for check, code in verify(args, report):
        outcome = "pass" if code in PASSED else "unknown" if check in ("chain", "payload", "event") else "fail"
        report["checks"].append({"check": check, "outcome": outcome, "code": code})
        if report["status"] == "valid" and outcome != "pass" and check not in ("dating", "event"):
            report["status"] = "unverifiable" if outcome == "unknown" else "tampered" if check == "content" else code
    print(json.dumps(report | {"valid": report["status"] == "valid"}, indent=2))
    sys.exit({"valid": 0, "unverifiable": 2}.get(report["status"], 1))
