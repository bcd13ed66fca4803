"""Verifies a document, or a presentation or credential of one, with an Ethereum node, IPFS gateways and the issuer's domain alone.

    python tools/examples/verify.py --rpc URL --registry eip155:<chainId>:0x<address> [--ipfs URL …] <publicId, presentation, credential or ->
Made from docs/formats.md; each § is one of its. Prints {status, valid, document or disclosed, domain, checks, asOf}.
Exit code: 0 valid, 1 not valid, 2 unverifiable, or bad arguments.
It tells fewer codes of `content` apart: all of §4 and §5 is `sealed_format`, all of §1 and §2 `document_format`.
"""
import argparse, base64, contextlib, hashlib, io, json, re, sys, time
from datetime import date
import base58, eth_abi, requests, rfc8785
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
HEADER = rb'{"alg":"dir","enc":"A128GCM","kid":"([\w-]{21}[AQgw])","sd":"([\w-]{42}[AEIMQUYcgkosw048])","typ":"document\+jwe","v":1}'
PLACE = "(0x[0-9a-f]{64} ){2}0x(0|[1-9a-f][0-9a-f]{0,12}|1[0-9a-f]{13})"
PRUNED = "(?i:prun(ed|ing))|data before txNum=[0-9]+ is not available|Receipt not available for (From|To) block"
RECORD, ISSUER = f"(uint16,{'uint40,' * 3}uint16,uint40,uint40,uint8,bool)", "(bytes,bytes,uint40,uint40,uint16,uint40,uint40)"
VERIFICATION = f"(uint256,uint256,uint256,uint8,{RECORD}{',(address,uint16,uint8,uint40,uint40,uint40,uint40)' * 2},{ISSUER})"
NOBODY, NO_ISSUER = ("0x" + "0" * 40,) + (0,) * 6, (b"", b"") + (0,) * 5
NOT_ISSUED, VALID, EXPIRED, SUSPENDED, REVOKED, SUPERSEDED, DISTRUSTED = range(7)
MISSED = ["missing", "unreachable", "wrong_bytes"]  # why there is no block, worst last
UNKNOWN = MISSED + ["no_domain", "malformed", "not_asked"]  # of batch and identity
PASSED = "read issued trusted linked holder no_holder not_superseded not_revoked not_suspended opens bound not_expired not_in_future agrees".split()

def require(holds):
    if not holds: raise ValueError
def to_text(data): return base64.urlsafe_b64encode(data).rstrip(b"=").decode()  # base64url
def digest(data): return to_text(hashlib.sha256(data).digest())
def to_bytes(text):  # base64url in its one form
    require(to_text(data := base64.urlsafe_b64decode(text + "==")) == text)
    return data

def fits(form, value):  # a pattern, a range, a list of one form, an object of exactly these members, a choice, or a test
    if isinstance(form, str): return isinstance(value, str) and re.fullmatch(form, value)
    if isinstance(form, range): return type(value) is int and value in form
    if isinstance(form, list): return isinstance(value, list) and all(fits(form[0], one) for one in value)
    if isinstance(form, tuple): return any(fits(one, value) for one in form)
    if not isinstance(form, dict): return form(value) if callable(form) else value is form
    return isinstance(value, dict) and form.keys() == value.keys() and all(fits(form[name], value[name]) for name in form)
def is_date(text):
    return fits("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) and date(1970, 1, 2) <= date.fromisoformat(text) <= date(9999, 12, 30)
def is_metadata(value):
    require(0 < len(value) <= 64 and fits([ANY], [*value.values()]) and not {"_sd", "...", "__proto__"} & value.keys())
    return all(0 < len(name) <= 64 for name in value) and len("".join(sum(value.items(), ())).encode()) <= 32_768
def is_digests(value): return fits(["[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]"], value) and len(value) in range(8, 65, 8) and value == sorted(value)

CAIP10, HASH, BYTES, ANY = "eip155:([1-9][0-9]{0,31}):(0x[0-9a-f]{40})", "0x[0-9a-f]{64}", "0x([0-9a-f]{2})+", "(?s:.*)"
OF = {"registry": CAIP10, "issuerId": range(1, 2**32)}
NEEDED = {"subjectName": r"[^\x00-\x1f\x7f-\x9f]{1,200}", "subjectId": "[0-9]{1,64}", "issuedAt": is_date,  # §2
          "category": "(?=.{1,64}$)[a-z][a-z0-9]*(_[a-z0-9]+)*"}
OPTIONAL = {"expiresAt": is_date, "supersedes": HASH, "metadata": is_metadata}
CLAIMS = OF | {"_sd": is_digests, "_sd_alg": "sha-256", "metadata": {"_sd": is_digests}}  # §5
PATH = {"root": HASH, "validUntil": range(2**40), "proof": lambda text: len(to_bytes(text)) in range(0, 29 * 32 + 1, 32)}
BATCH_BLOCK = OF | PATH | {"documentHash": HASH, "manifest": HASH, "size": range(1, 425_085_001), "v": range(1, 2)}  # §13
SLOTS = lambda slots: fits([{"key": HASH, "value": HASH, "proof": [BYTES]}], slots) and len(slots) <= 4_096  # §14
PRESENTATION = OF | {"type": "document-registry-presentation", "v": range(1, 2), "documentHash": HASH, "claims": CLAIMS,  # §17
    "disclosures": lambda texts: fits([ANY], texts) and len(texts) <= 70, "batch": (None, PATH), "sealed": (None, ANY),
    "stateProof": (None, {"header": BYTES, "accountProof": [BYTES], "storageProof": SLOTS})}
TEXT, KEY = lambda text: fits(ANY, text) and len(text.encode("utf-16-le")) in range(2, 4_097), {"kty": "EC", "crv": "P-256"} | dict.fromkeys("xy", "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
CREDENTIAL = CLAIMS | {"documentHash": HASH, "iss": TEXT, "iat": range(2**40), "vct": TEXT, "cnf": {"jwk": KEY},  # §20
    "status": {"status_list": {"idx": range(2**53), "uri": TEXT}}}
WITH = {"exp": range(2**40), "batch": (None, PATH), "vct#integrity": TEXT}
HEADERS = tuple({"alg": "ES256", "typ": r"dc\+sd-jwt"} | more for more in (
    {"kid": TEXT}, {"x5c": lambda chain: fits([ANY], chain) and 0 < len(chain) <= 10}))
LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
ENDPOINT = lambda one: fits(ANY, one["registry"]) and type(one["issuerId"]) in (int, float)
METHOD = lambda one: fits("[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[-.%a-zA-Z0-9]{1,128}", dict.get(one, "blockchainAccountId", "eip155:1:0"))

def depth(value):  # in how many arrays and objects its deepest value lies
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(depth, inner)) if inner else 0
def number(text): return int(float(text)) if float(text).is_integer() else float(text)  # 1.0 is 1
NUMBERS = {"parse_float": number, "parse_constant": lambda _: require(False)}  # no NaN
def strict_json(data, canonical=False):  # §1
    def members(pairs): return dict(pairs) if len(pairs) == len(dict(pairs)) and "__proto__" not in dict(pairs) else require(False)
    value = json.loads(data.decode(), object_pairs_hook=members, **NUMBERS)
    json.dumps(value, ensure_ascii=False).encode()  # fails for half of a surrogate pair
    require(depth(value) <= 32 and (not canonical or rfc8785.dumps(value) == data))
    return value

def read_document(document):  # §2, §3: the second in which its day of issue begins, and its validUntil
    require(fits(OF | NEEDED | {name: form for name, form in OPTIONAL.items() if name in document}, document))
    issued, last = ((date.fromisoformat(document.get(name, "9999-12-30")) - date(1970, 1, 1)).days for name in ("issuedAt", "expiresAt"))
    require(issued <= last)
    return issued * 86_400, (last + 1) * 86_400 if "expiresAt" in document else 0

def read_presentation(data):  # §17
    shown = strict_json(data)
    require(len(data) <= 8_388_608 and fits(PRESENTATION, shown))
    require([shown[name] for name in OF] == [shown["claims"][name] for name in OF])
    return shown

def read_jws(text):  # §20: the header and the payload
    header, payload, _ = map(to_bytes, text.split("."))
    return strict_json(header), strict_json(payload)
def read_credential(text):  # §20: what it shows, as a presentation, and what was signed
    (jws, *disclosures), proof = text.split("~")[:-1], text.split("~")[-1]
    header, payload = read_jws(jws)
    require(fits("[!-~]{1,524288}", text) and len(disclosures) <= 70 and all(disclosures) and fits(HEADERS, header))
    require(fits(CREDENTIAL | {name: form for name, form in WITH.items() if name in payload}, payload))
    shown = {"claims": {name: payload[name] for name in CLAIMS}, "disclosures": disclosures, "batch": payload.get("batch"), "sealed": None}
    return payload | shown | {"signed": jws, "kid": header.get("kid"), "proof": proof, "covers": text[: len(text) - len(proof)]}

def signed_by(jwk, jws):  # ES256
    with contextlib.suppress(Exception):
        x, y = (int.from_bytes(to_bytes(jwk[name])) for name in "xy")
        text, signature = jws.rsplit(".", 1)
        require(len(both := to_bytes(signature)) == 64)
        key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        key.verify(encode_dss_signature(int.from_bytes(both[:32]), int.from_bytes(both[32:])), text.encode(), ec.ECDSA(SHA256()))
        return True
def check_credential(args, identity, until):  # §20: the code of `credential`
    shown = args.shown
    if identity in UNKNOWN: return identity
    if not args.names: return "unknown_key"
    if shown["iss"] not in args.names: return "wrong_iss"
    named = [jwk for name, jwk in args.keys if shown["kid"] in (None, name) or name == f"{args.names[0]}#{shown['kid']}"]
    if not named: return "unknown_key"
    if not any(signed_by(jwk, shown["signed"]) for jwk in named): return "signature_invalid"
    if shown.get("exp", 0) != until: return "other_expiry"
    if not shown["proof"]: return "no_holder"
    with contextlib.suppress(Exception):
        header, said = read_jws(shown["proof"])
        require((header["alg"], header["typ"]) == ("ES256", "kb+jwt") and "crit" not in header and type(said["iat"]) in (int, float) and said["iat"] <= args.now + 300)
        require(all(fits(ANY, said[name]) for name in ("aud", "nonce")) and said["sd_hash"] == digest(shown["covers"].encode()))
        if signed_by(shown["cnf"]["jwk"], shown["proof"]): return "holder"
    return "holder_invalid"

def read_disclosures(claims, disclosures):  # §5: the code of what does not hold, and the disclosed part of a document
    lists, parts = (claims["_sd"], claims["metadata"]["_sd"]), ({}, {})
    if len(set(sum(lists, []))) < len(sum(lists, [])): return "claims_digest_repeated", None
    if len(set(disclosures)) < len(disclosures): return "disclosure_repeated", None
    try:
        triples = [strict_json(to_bytes(text), canonical=True) for text in disclosures]
        require(all(fits([ANY], triple) and len(triple) == 3 and len(to_bytes(triple[0])) == 16 for triple in triples))
    except Exception: return "disclosure_malformed", None
    for text, (_, name, value) in zip(disclosures, triples):
        part = next((part for part, digests in zip(parts, lists) if digest(text.encode()) in digests), None)
        if part is None or name in part: return "disclosure_unlisted" if part is None else "disclosure_name_repeated", None
        part[name] = value
    code = "bound" if parts[0].keys() <= NEEDED.keys() | OPTIONAL.keys() - {"metadata"} else "document_format"
    return code, parts[0] | ({"metadata": parts[1]} if parts[1] else {})

def read_public_id(text):  # §7: the kind, the issuerId, the hash and the documentKey
    data = base58.b58decode(text)
    require(text.isalnum() and data[0] in (1, 2) and hashlib.sha256(data[:53]).digest()[:4] == data[53:] and any(data[1:5]))
    return data[0], int.from_bytes(data[1:5]), data[5:37], data[37:53]
def rpc(args, method, *params):  # §9: the result and the error of one JSON-RPC call
    response = requests.post(args.rpc, json=dict(jsonrpc="2.0", id=1, method=method, params=params), timeout=args.timeout)
    answer = json.loads(response.content.decode(), **NUMBERS)  # not response.json(): it takes UTF-16, too
    result, error = answer.get("result"), answer.get("error")
    require(response.status_code in (*range(200, 300), 400) and (error is not None or "result" in answer))
    require(error is None or result is None and fits(range(1 - 2**53, 2**53), error["code"]) and fits(ANY, error["message"]))
    return result, error

def read_block(args):  # §6, §10: the code of `payload`, and the sealed bytes
    cid = "b" + base64.b32encode(b"\x01\x55\x12\x20" + args.hash).decode().lower().rstrip("=")
    options = {"headers": {"Accept": "application/vnd.ipld.raw"}, "stream": True, "timeout": args.timeout}
    codes = dict.fromkeys(args.ipfs, "unreachable")
    if args.shown and args.shown["sealed"] is not None:
        codes["sealed"], sealed = "wrong_bytes", args.shown["sealed"].encode()
        if hashlib.sha256(sealed).digest() == args.hash: return "read", sealed
    for url in args.ipfs:
        with contextlib.suppress(Exception), requests.get(f"{url}/ipfs/{cid}?format=raw", **options) as answer:
            codes[url] = "missing" if answer.status_code in (404, 410) else "unreachable"
            require(answer.status_code // 100 == 2 and len(data := answer.raw.read(1_048_577, decode_content=True)) <= 1_048_576)
            codes[url] = "wrong_bytes"
            if hashlib.sha256(data).digest() == args.hash: return "read", data
    return max(codes.values(), key=MISSED.index, default="missing"), None
def read_batch_block(data):  # §13
    block = strict_json(data, canonical=True)
    require(fits(BATCH_BLOCK, block) and len(data) <= 4_096)
    require(len(to_bytes(block["proof"])) in [32 * (size.bit_length() - 1) for size in (block["size"], 2 * block["size"] - 1)])
    return block

def sd_of(key, kid, metadata={}, **claims):  # §5: the digest of the claims of a document; metadata is in their order
    derive = lambda info: io.BytesIO(HKDF(SHA256(), 8_160, kid, b"document-registry/v1/" + info).derive(key))
    salts, decoys, lists = derive(b"disclosure-salts"), derive(b"decoys"), []
    for part in {name: claims.pop(name) for name in sorted(claims.keys() - {"issuerId", "registry"})}, metadata:
        digests = [digest(to_text(rfc8785.dumps([to_text(salts.read(16)), *entry])).encode()) for entry in part.items()]
        lists.append(sorted(digests + [to_text(decoys.read(32)) for _ in range(-len(part) % 8 if part else 8)]))
    return digest(rfc8785.dumps(claims | {"_sd": lists[0], "_sd_alg": "sha-256", "metadata": {"_sd": lists[1]}}))

def find_domain(uri, chain_id):  # §11: the domain, the DID and the address of its document
    found = re.fullmatch(r"(?i:(https?))://([a-zA-Z0-9.-]+)(?::([1-9][0-9]{0,4}))?((?:/[A-Za-z0-9._-]+)*)/?", uri)
    found = found or re.fullmatch(r"(did:web):([a-zA-Z0-9.-]+)(?:%3[Aa]([1-9][0-9]{0,4}))?((?::[A-Za-z0-9._-]+)*)", uri)
    scheme, host, port, path = found.groups()
    host, path = host.lower(), path.replace(":", "/")
    local = chain_id == "31337" and host in ("localhost", "127.0.0.1") and port
    require(scheme.lower() in ("did:web", "http" if local else "https") and int(port or 1) <= 65_535 and len(uri) <= 400)
    require(local or len(host) <= 253 and re.fullmatch(rf"({LABEL}\.)+(?!localhost$)(?=[a-z]){LABEL}", host))
    require(not {".", ".."} & set(path.split("/")))
    domain = host + (f":{port}" if port and port != ("80" if local else "443") else "") + path
    did = "did:web:" + domain.replace(":", "%3A").replace("/", ":")
    return domain, did, f"{'http' if local else 'https'}://{domain}{'' if path else '/.well-known'}/did.json"

def read_identity(args, uri, account):  # §11: the code of `identity`, and the domain that vouches for the issuer
    if args.no_identity: return "not_asked", None
    chain, code = f"eip155:{args.chain_id}:", "no_domain"
    with contextlib.suppress(Exception), requests.Session() as session:  # whatever fails leaves the code as it is
        domain, did, address = find_domain(uri, args.chain_id)
        code, session.trust_env = "unreachable", False  # no credentials of this machine
        with session.get(address, stream=True, timeout=min(args.timeout, 5), allow_redirects=False) as answer:
            data = answer.raw.read(65_537, decode_content=True)
            require(answer.status_code == 200)
        code = "malformed"
        document = {"service": [], "verificationMethod": []} | strict_json(data)
        require(len(data) <= 65_536 and document["id"] == did and fits([METHOD], document["verificationMethod"]))
        require(fits([lambda one: fits((ANY, [ANY]), one["type"])], document["service"]))
        ours = [one.get("serviceEndpoint") for one in document["service"] if "DocumentRegistry" in [one["type"], *one["type"]]]
        require(all(fits([ENDPOINT], part) for part in ours))
        listed = [(one["registry"].lower(), one["issuerId"]) for part in ours for one in part]
        accounts = [one.get("blockchainAccountId", "").lower() for one in document["verificationMethod"]]
        if (args.registry, args.issuer) not in listed: return "denied", None
        if any(one.startswith(chain) for one in accounts) and chain + account not in accounts: return "account_not_listed", None
        used, methods = document.get("assertionMethod"), document["verificationMethod"]
        keys = [(one.get("id"), jwk) for one in methods if isinstance(jwk := one.get("publicKeyJwk"), dict)]
        args.keys = [(name, jwk) for name, jwk in keys if fits(ANY, name) and name in (used if isinstance(used, list) else [used]) and fits(KEY, {part: jwk.get(part) for part in KEY})]
        args.names = did, address.split(":")[0] + "://" + domain
        return ("linked" if args.issuer_domain in (None, domain) else "other_domain"), domain
    return code, None

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

def other_of(args, of): return "other_registry" if of["registry"] != args.registry else "other_issuer" if of["issuerId"] != args.issuer else None

def verify(args, report):  # §11: yields the name and the code of each check
    shown, fails_as = None, ("batch", "batch_malformed")  # what is told when one of the next lines fails
    try:
        batch, call = args.batch, "0xb896c9c5" + eth_abi.encode(["uint32", "bytes32"], [args.issuer, args.hash]).hex()
        if args.kind == 2:  # §13
            code, data = read_block(args)
            fails_as = "batch", "batch_malformed" if data is not None else code
            batch = read_batch_block(data)
            fails_as = "batch", other_of(args, batch)
            require(not fails_as[1])
            yield "batch", "read"
            args.hash = bytes.fromhex(batch["documentHash"][2:])
        args.root = batch and batch["root"]
        if batch:
            proof = to_bytes(batch["proof"])
            siblings = [proof[i : i + 32] for i in range(0, len(proof), 32)]
            path = [args.issuer, bytes.fromhex(args.root[2:]), args.hash, batch["validUntil"], siblings]
            call = "0x10ab29b9" + eth_abi.encode(["uint32", "bytes32", "bytes32", "uint40", "bytes32[]"], path).hex()
        fails_as = "chain", "rpc_unreachable"
        result, error = rpc(args, "eth_call", {"to": args.address, "data": call}, "latest")
        fails_as = "chain", "no_registry" if error is None else "rpc_error"
        reading = eth_abi.decode([VERIFICATION], bytes.fromhex(result[2:]))
        require("0x" + eth_abi.encode([VERIFICATION], reading).hex() == result and max(reading[0][:3]) < 2**53)
        chain, number, block_time, status, record, account, revoker, issuer = reading[0]
        index, block, _, until, revoker_index, revoked, revoked_at, reason, _ = record
        distrusted, released = 0 < account[6] <= block, not revoked or reason == 8 and not 0 < revoker[6] <= revoked
        stands = EXPIRED if 0 < until <= block_time else VALID
        stands = stands if released else {4: SUPERSEDED, 6: SUSPENDED, 8: SUSPENDED}.get(reason, REVOKED)
        require(status == (NOT_ISSUED if not block else DISTRUSTED if distrusted else stands))
        require(account != NOBODY and account[1] == index if block else (account, revoker, issuer) == (NOBODY, NOBODY, NO_ISSUER))
        require(not block or revoked or (revoker, revoker_index, revoked_at, reason) == (NOBODY, 0, 0, 0))
        require(not block or not revoked or revoker[0] != NOBODY[0] and revoker[1] == revoker_index)
        require(not block or not revoked or revoker[1] != index or revoker == account)
        fails_as = "chain", "wrong_chain"
        require(chain == int(args.chain_id))
        report["asOf"] = {"blockNumber": number, "blockHash": None, "blockTime": block_time}
        yield "chain", "head_stale" if args.now - block_time > args.max_head_age else "read"
        fails_as = "record", "not_issued"
        require(block)
        yield "record", "issued"
        yield "issuer", "distrusted" if distrusted else "trusted"
        code, report["domain"] = read_identity(args, issuer[1].decode(errors="replace"), account[0])
        yield "identity", code
        if args.shown and "iss" in args.shown: yield "credential", check_credential(args, code, until)
        for check, one, word in ("supersession", SUPERSEDED, "superseded"), ("revocation", REVOKED, "revoked"), ("suspension", SUSPENDED, "suspended"):
            yield check, word if stands == one else f"not_{word}"
        code, sealed = read_block(args)
        fails_as = "payload", code
        require(sealed is not None)
        yield "payload", "read"
        fails_as = "content", "sealed_format"  # §5
        parts = [to_bytes(part) for part in sealed.decode("ascii").split(".")]
        header, encrypted_key, iv, ciphertext, tag = parts  # more than six colons in the header: a name came twice
        require((len(encrypted_key), len(iv), len(tag), header.count(b":")) == (0, 12, 16, 6))
        kid, sd = re.fullmatch(HEADER, rfc8785.dumps(json.loads(header.decode()))).groups()
        if args.shown:  # §17
            bound = args.shown["claims"]
            fails_as = "content", "other_disclosures"
            require(digest(rfc8785.dumps(bound)) == sd.decode())
            code, document = read_disclosures(bound, args.shown["disclosures"])
            fails_as = "content", "document_format" if code == "bound" else code
            require(code == "bound")
            others = {"subjectName": "-", "subjectId": "0", "category": "a", "issuedAt": "1970-01-02"}  # for those not shown
            issued, last = read_document(others | document | {name: bound[name] for name in OF})
        else:
            fails_as = "key", "wrong_key"
            padded = AESGCM(args.key).decrypt(iv, ciphertext + tag, sealed.split(b".")[0])
            fails_as = "content", "sealed_format"  # §4
            data = padded.rstrip(b" ")  # canonical JSON does not end with a space
            require(0 < len(padded) == (len(data) + 255) // 256 * 256)
            yield "key", "opens"
            fails_as = "content", "document_format"  # §1 to §3
            bound = document = strict_json(data, canonical=True)
            issued, last = read_document(document)
            fails_as = "content", "other_disclosures"
            require(sd_of(args.key, to_bytes(kid.decode()), **document) == sd.decode())
        fits_expiry = until == last or args.shown and "expiresAt" not in document
        fails_as = "content", other_of(args, bound) or "other_expiry"
        require(fits_expiry and not other_of(args, bound))
        report["disclosed" if args.shown else "document"] = shown = document
        yield "content", "bound"
    except Exception: yield fails_as
    if fails_as[0] not in ("batch", "chain", "record"):
        yield "expiry", "expired" if 0 < until <= max(args.now, block_time) else "not_expired"
        if shown and "issuedAt" in shown:  # its day begins in UTC+14, 50,400 s before UTC
            yield "dating", "in_future" if issued - 50_400 > max(args.now, block_time) else "not_in_future"
        yield "event", read_event(args, block, account[0], until)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in "--rpc", "--registry": parser.add_argument(name, required=True)
    parser.add_argument("--ipfs", default=[], action="append", type=lambda url: url.rstrip("/"))
    parser.add_argument("--max-head-age", type=int, default=900, help="seconds; an older newest block is stale")
    parser.add_argument("--timeout", type=float, default=10, help="seconds that a node or gateway may be silent")
    parser.add_argument("--issuer-domain", help="must vouch for the issuer; otherwise it informs")
    parser.add_argument("--no-identity", action="store_true", help="do not ask the issuer's domain")
    parser.add_argument("publicId", help="a decryption key, sent to nobody; or a presentation or credential; - reads standard input")
    defaults = {"now": int(time.time()), "shown": None, "batch": None, "kind": 1, "keys": [], "names": ()}
    args = parser.parse_args(namespace=argparse.Namespace(**defaults))
    try:
        args.chain_id, args.address = re.fullmatch(CAIP10, args.registry).groups()
        domain = args.issuer_domain and "did:web:" + args.issuer_domain.replace(":", "%3A").replace("/", ":")
        args.issuer_domain = domain and find_domain(domain, args.chain_id)[0]
        text = sys.stdin.buffer.read().decode().strip() if args.publicId == "-" else args.publicId
        if text.startswith("{") or "~" in text:
            shown = args.shown = read_presentation(text.encode()) if text.startswith("{") else read_credential(text)
            args.issuer, args.hash, args.batch = shown["issuerId"], bytes.fromhex(shown["documentHash"][2:]), shown["batch"]
        else: args.kind, args.issuer, args.hash, args.key = read_public_id(text)
    except Exception: parser.error("the registry, the domain, or the publicId, presentation or credential is malformed")
    report = {"status": "valid", "valid": None, "disclosed" if args.shown else "document": None, "domain": None, "checks": [], "asOf": None}
    for check, code in verify(args, report):
        unknown = check in ("chain", "payload", "event") or code in UNKNOWN
        outcome = "pass" if code in PASSED else "unknown" if unknown else "fail"
        report["checks"].append({"check": check, "outcome": outcome, "code": code})
        decides = check not in ("dating", "event", "credential") and (check != "identity" or args.issuer_domain and outcome == "fail")
        if report["status"] == "valid" and outcome != "pass" and decides:
            report["status"] = "distrusted" if check == "identity" else "unverifiable" if outcome == "unknown" else "tampered" if check in ("batch", "content") else code
    required = {"check": "identity", "outcome": "pass", "code": "linked"} if args.issuer_domain else None  # it comes last
    if report["status"] == "valid" and required and required not in report["checks"]: report["status"] = "unverifiable"
    signed = next((one["outcome"] for one in report["checks"] if one["check"] == "credential"), "pass")
    if signed == "fail" and report["status"] in ("valid", "expired"): report["status"] = "tampered"
    if signed == "unknown" and report["status"] == "valid": report["status"] = "unverifiable"
    print(json.dumps(report | {"valid": report["status"] == "valid"}, indent=2))
    sys.exit({"valid": 0, "unverifiable": 2}.get(report["status"], 1))
