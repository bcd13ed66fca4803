"""Verifies a presentation and its status list with Polaris. The standard input is JSON:
{presentation, audience, nonce, vct, keys, authorities, list}, where keys are JWKs, authorities
are PEM, and list is the status list token. The answer is JSON: [code, status]."""
import base64, json, sys, time
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from polaris_oid4vp.sdjwt import verify_presentation
from polaris_oid4vp.status import decide

asked = json.load(sys.stdin)


def number(text):
    return int.from_bytes(base64.urlsafe_b64decode(text + "=="), "big")


def is_signed(signed, signature, header):
    """Whether the key in the header, which has to be one of the issuer's, signed the list."""
    jwk = header["jwk"]
    x, y = number(jwk["x"]), number(jwk["y"])
    if not any((number(key["x"]), number(key["y"])) == (x, y) for key in asked["keys"]):
        return False
    key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    key.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(SHA256()))
    return True


def resolve(uri, idx, issuer):
    return decide(
        asked["list"], index=idx, expected_uri=uri, credential_issuer=issuer, now=int(time.time()),
        authority=lambda **_: (is_signed, "stated", "the issuer signs its own lists"))


trust = (
    {"trust_anchors": [x509.load_pem_x509_certificate(pem.encode()) for pem in asked["authorities"]]}
    if asked["authorities"]
    else {"issuer_jwks": asked["keys"]})
verdict = verify_presentation(
    asked["presentation"], expected_audience=asked["audience"], expected_nonce=asked["nonce"],
    expected_vct=asked["vct"], status_resolver=resolve, **trust)
revocation = verdict.revocation or {}
print(json.dumps([verdict.code if not verdict.authentic else "authentic", revocation.get("meaning")]))
