"""Prints what the package sd-jwt reads in the claims and disclosures of documents.json, signed as a credential."""
import json
from pathlib import Path

from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS
from sd_jwt.verifier import SDJWTVerifier

KEY = JWK.generate(kty="EC", crv="P-256")


def read(claims, disclosures):
    jws = JWS(json.dumps(claims))
    jws.add_signature(KEY, alg="ES256", protected=json.dumps({"alg": "ES256", "typ": "example+sd-jwt"}))
    credential = "~".join([jws.serialize(compact=True), *disclosures, ""])
    return SDJWTVerifier(credential, lambda issuer, header: KEY).get_verified_payload()


documents = json.loads((Path(__file__).parent / "documents.json").read_text(encoding="utf-8"))["documents"]
print(json.dumps([
    {
        "all": read(one["claims"], [*one["disclosures"]["fields"].values(), *one["disclosures"]["metadata"].values()]),
        "fields": read(one["claims"], one["disclosures"]["fields"].values()),
        "none": read(one["claims"], []),
    }
    for one in documents
]))
