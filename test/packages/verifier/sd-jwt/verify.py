"""Verifies SD-JWTs with a library that nobody here wrote. A line of standard input is JSON:
[credential, key, audience, nonce]; the answer to each is the payload as JSON, or null."""
import json, sys
from jwcrypto.jwk import JWK
from sd_jwt.verifier import SDJWTVerifier

for line in sys.stdin:
    credential, key, audience, nonce = json.loads(line)
    try:
        verifier = SDJWTVerifier(credential, lambda *_: JWK(**key), audience, nonce)
        print(json.dumps(verifier.get_verified_payload()))
    except Exception:
        print("null")
