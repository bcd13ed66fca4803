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
RECORD, ISSUER = f"(uint16,{'uint40,' * 3}uint16,uint40,uint40,uint8,bool)", "(string,string,uint40,uint40,uint16,uint40,uint40)"
VERIFICATION = f"(uint256,uint256,uint256,uint8,{RECORD}{',(address,uint16,uint8,uint40,uint40,uint40,uint40)' * 2},{ISSUER})"
HASH = constr(pattern="^0x[0-9a-f]{64}$")
NOBODY, NO_ISSUER = ("0x" + "0" * 40,) + (0,) * 6, ("", "") + (0,) * 5
PRUNED = "(?i:prun(ed|ing))|data before txNum=[0-9]+ is not available|Receipt not available for (From|To) block"
NOT_ISSUED, VALID, EXPIRED, SUSPENDED, REVOKED, SUPERSEDED, DISTRUSTED = range(7)
REFUSED = {"_sd", "...", "__proto__"}  # as keys of metadata
MISSED = ["missing", "unreachable", "wrong_bytes"]  # why there is no block, worst last
PASSED = "read issued trusted not_superseded not_revoked not_suspended opens bound not_expired not_in_future agrees".split()

class Document(BaseModel, extra="forbid", strict=True):  # §2
    subjectName: constr(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,200}$")
    subjectId: constr(pattern="^[0-9]{1,64}$")
    category: constr(pattern="^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=64)
    issuedAt: date = Field(ge=date(1970, 1, 2))
    expiresAt: date = Field(date(9999, 12, 30), le=date(9999, 12, 30))
    metadata: dict[constr(min_length=1, max_length=64), str] = Field({}, min_length=1, max_length=64)
    supersedes: HASH = ""
    registry: constr(pattern=CAIP10)
    issuerId: int = Field(ge=1, le=4_294_967_295)

class BatchBlock(BaseModel, extra="forbid", strict=True):  # §13
    documentHash: HASH; manifest: HASH; root: HASH
    issuerId: int = Field(ge=1, le=4_294_967_295)
    registry: constr(pattern=CAIP10)
    proof: str
    size: int = Field(ge=1, le=425_085_000)
    validUntil: int = Field(ge=0, lt=2**40)
    v: int = Field(ge=1, le=1)

def require(holds):
    if not holds: raise ValueError

def read_public_id(text):  # §7: the kind, the issuerId, the hash and the documentKey
    data = base58.b58decode(text)
    require(text.isalnum() and data[0] in (1, 2) and hashlib.sha256(data[:53]).digest()[:4] == data[53:] and any(data[1:5]))
    return data[0], int.from_bytes(data[1:5]), data[5:37], data[37:53]

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
    return max(codes.values(), key=MISSED.index, default="missing"), None

def read_batch_block(data):  # §13: the block, the siblings of its proof
    block = BatchBlock.model_validate_json(data)
    proof = base64.urlsafe_b64decode(block.proof + "==")
    require(rfc8785.dumps(block.model_dump()) == data and len(data) <= 4_096)
    require(base64.urlsafe_b64encode(proof).decode().rstrip("=") == block.proof)
    require(len(proof) in [32 * (size.bit_length() - 1) for size in (block.size, 2 * block.size - 1)])
    return block, [proof[i : i + 32] for i in range(0, len(proof), 32)]

def sd_of(key, kid, metadata={}, **claims):  # §5: the digest of the claims of a document; metadata is in their order
    text = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    digest = lambda data: text(hashlib.sha256(data).digest())
    derive = lambda info: io.BytesIO(HKDF(SHA256(), 8_160, kid, b"document-registry/v1/" + info).derive(key))
    salts, decoys, lists = derive(b"disclosure-salts"), derive(b"decoys"), []
    for part in {name: claims.pop(name) for name in sorted(claims.keys() - {"issuerId", "registry"})}, metadata:
        digests = [digest(text(rfc8785.dumps([text(salts.read(16)), *entry])).encode()) for entry in part.items()]
        lists.append(sorted(digests + [text(decoys.read(32)) for _ in range(-len(part) % 8 if part else 8)]))
    return digest(rfc8785.dumps(claims | {"_sd": lists[0], "_sd_alg": "sha-256", "metadata": {"_sd": lists[1]}})).encode()

def read_event(args, block, account, until, code="unreachable", again=True):  # §9
    root, issuer = args.root, f"0x{args.issuer:064x}"
    topics = ["0x5519b623694c63284c5b47a2235ef49988400428f635d7008b61f6b5c9fe7bb9" if root else
              "0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1", root or "0x" + args.hash.hex(), issuer]
    query = {"address": args.address, "fromBlock": hex(block), "toBlock": hex(block), "topics": topics}
    with contextlib.suppress(Exception):  # whatever fails leaves the code as it is
        logs, error = rpc(args, "eth_getLogs", query)
        code = "pruned" if error and (error["code"] == 4444 or re.search(PRUNED, error["message"])) else code
        require(error is None and isinstance(logs, list))
        code = "contradicts" if logs else "missing"
        place = " ".join(logs[-1][name] for name in ("transactionHash", "blockHash", "logIndex"))
        data = eth_abi.decode(["address", "uint40", "bytes32"][: 3 if root else 2], bytes.fromhex(logs[-1]["data"][2:]))
        whole = re.fullmatch("0x([0-9a-f]{64}){%d}" % len(data), logs[-1]["data"]) and re.fullmatch(PLACE, place)
        found = [logs[-1]["address"].lower(), *logs[-1]["topics"], data[0], until if root else data[1]]
        code = "agrees" if whole and found == [args.address, *topics, account, until] else "contradicts"
    return read_event(args, block, account, until, again=False) if code == "contradicts" and again else code

def verify(args, report):  # §11: yields the name and the code of each check
    fails_as = "batch", "batch_malformed"  # what is told when one of the next lines fails
    try:
        args.root, call = None, "0xb896c9c5" + eth_abi.encode(["uint32", "bytes32"], [args.issuer, args.hash]).hex()
        if args.kind == 2:  # §13
            code, data = read_block(args)
            fails_as = "batch", "batch_malformed" if data is not None else code
            batch, siblings = read_batch_block(data)
            here, theirs = batch.registry == args.registry, batch.issuerId == args.issuer
            fails_as = "batch", "other_issuer" if here else "other_registry"
            require(here and theirs)
            yield "batch", "read"
            args.root, args.hash = batch.root, bytes.fromhex(batch.documentHash[2:])
            path = [args.issuer, bytes.fromhex(args.root[2:]), args.hash, batch.validUntil, siblings]
            call = "0x10ab29b9" + eth_abi.encode(["uint32", "bytes32", "bytes32", "uint40", "bytes32[]"], path).hex()
        fails_as = "chain", "rpc_unreachable"
        result, error = rpc(args, "eth_call", {"to": args.address, "data": call}, "latest")
        fails_as = "chain", "no_registry" if error is None else "rpc_error"
        reading = eth_abi.decode([VERIFICATION], bytes.fromhex(result[2:]))
        require("0x" + eth_abi.encode([VERIFICATION], reading).hex() == result and max(reading[0][:3]) < 2**53)
        chain, number, block_time, status, record, account, revoker, issuer = reading[0]
        index, block, _, until, revoker_index, revoked, revoked_at, reason, _ = record
        distrusted, released = 0 < account[6] <= block, not revoked or reason == 8
        stands = EXPIRED if 0 < until <= block_time else VALID
        stands = stands if released else {4: SUPERSEDED, 6: SUSPENDED}.get(reason, REVOKED)
        require(status == (NOT_ISSUED if not block else DISTRUSTED if distrusted else stands))
        require(account != NOBODY and account[1] == index if block else (account, revoker, issuer) == (NOBODY, NOBODY, NO_ISSUER))
        require(not block or revoked or (revoker, revoker_index, revoked_at, reason) == (NOBODY, 0, 0, 0))
        require(not block or not revoked or revoker != NOBODY and revoker[1] == revoker_index)
        require(not block or not revoked or revoker[1] != index or revoker == account)
        fails_as = "chain", "wrong_chain"
        require(chain == int(args.chain_id))
        report["asOf"] = {"blockNumber": number, "blockHash": None, "blockTime": block_time}
        yield "chain", "head_stale" if args.now - block_time > args.max_head_age else "read"
        fails_as = "record", "not_issued"
        require(block)
        yield "record", "issued"
        yield "issuer", "distrusted" if distrusted else "trusted"
        yield "supersession", "superseded" if stands == SUPERSEDED else "not_superseded"
        yield "revocation", "revoked" if stands == REVOKED else "not_revoked"
        yield "suspension", "suspended" if stands == SUSPENDED else "not_suspended"
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
        here, theirs = typed.registry == args.registry, typed.issuerId == args.issuer
        fails_as = "content", "other_expiry" if here and theirs else "other_issuer" if here else "other_registry"
        require(here and theirs and until == (last + 86_400 if "expiresAt" in document else 0))
        report["document"] = document
        yield "content", "bound"
    except Exception: yield fails_as
    if fails_as[0] not in ("batch", "chain", "record"):
        yield "expiry", "expired" if 0 < until <= max(args.now, block_time) else "not_expired"
        if report["document"]:  # its day begins in UTC+14, 50,400 s before UTC
            yield "dating", "in_future" if issued - 50_400 > max(args.now, block_time) else "not_in_future"
        yield "event", read_event(args, block, account[0], until)

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
        text = input().strip() if args.publicId == "-" else args.publicId
        args.kind, args.issuer, args.hash, args.key = read_public_id(text)
    except Exception: parser.error("the registry or the publicId is malformed")
    report = {"status": "valid", "valid": None, "document": None, "checks": [], "asOf": None}
    for check, code in verify(args, report):
        unknown = check in ("chain", "payload", "event") or code in MISSED  # of a batch block too
        outcome = "pass" if code in PASSED else "unknown" if unknown else "fail"
        report["checks"].append({"check": check, "outcome": outcome, "code": code})
        if report["status"] == "valid" and outcome != "pass" and check not in ("dating", "event"):
            report["status"] = "unverifiable" if outcome == "unknown" else "tampered" if check in ("batch", "content") else code
    print(json.dumps(report | {"valid": report["status"] == "valid"}, indent=2))
    sys.exit({"valid": 0, "unverifiable": 2}.get(report["status"], 1))
