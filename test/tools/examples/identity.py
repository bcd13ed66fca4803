"""Prints what tools/examples/verify.py makes of the uris of issuers, and of what their domains serve, as JSON.

    identity.py <examples> <a JSON object: registry, issuer, account, uris, served>
"""
import json
import sys
from types import SimpleNamespace

sys.path.insert(0, sys.argv[1])
import verify  # noqa: E402

given = json.loads(sys.argv[2])
_, chain_id, _ = given["registry"].split(":")


def address_of(uri, chain):
    try:
        domain, did, url = verify.find_domain(uri, chain)
        return {"domain": domain, "did": did, "url": url}
    except Exception:
        return None


def code_of(uri, issuer_domain):
    args = SimpleNamespace(
        no_identity=False, registry=given["registry"], issuer=given["issuer"], chain_id=chain_id, timeout=1,
        issuer_domain=issuer_domain)
    code, domain = verify.read_identity(args, uri, given["account"])
    return {"code": code, "domain": domain}


print(json.dumps({
    "addresses": [address_of(uri, chain) for chain in ("1", "31337") for uri in given["uris"]],
    "codes": [code_of(one["uri"], one["issuerDomain"]) for one in given["served"]],
}))
