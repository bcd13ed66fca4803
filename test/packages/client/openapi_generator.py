"""Uses the client that openapi-generator has made, as a program of an integrator would.

python openapi_generator.py FOLDER URL API_KEY; FOLDER has the package `registry_client`. Prints
what it learned as JSON.
"""

import datetime
import importlib
import json
import pkgutil
import sys

folder, url, api_key = sys.argv[1:]
sys.path.insert(0, folder)

import registry_client as registry  # noqa: E402

for _, name, _ in pkgutil.walk_packages(registry.__path__, "registry_client."):
    importlib.import_module(name)

client = registry.ApiClient(registry.Configuration(host=url, access_token=api_key))
documents = registry.DocumentsApi(client)
verification = registry.VerificationApi(client)

fields = {"subject_id": "18151210", "category": "birth_certificate", "issued_at": "2026-01-31"}
document = registry.NewDocument(subject_name="Ada Lovelace", metadata={"a": "b"}, **fields)
issued = documents.issue_document(document, idempotency_key="python-4711").data
again = documents.issue_document(document, idempotency_key="python-4711").data
verified = verification.verify_document(public_id=issued.public_id).data
proof = verified.blockchain_proof.actual_instance
revocation = registry.Revocation(reason="keyCompromise")
revoked = documents.revoke_document(issued.public_id, revocation=revocation).data
after = verification.verify_document(public_id=issued.public_id).data
try:
    documents.issue_document(registry.NewDocument(subject_name="\u200b", **fields))
    refused = None
except registry.ApiException as error:
    refused = error.data.error.code

assert isinstance(proof.block_time, datetime.datetime)
print(
    json.dumps(
        {
            "again": again.public_id == issued.public_id,
            "verified": [verified.valid, verified.status, proof.document_hash == issued.document_hash],
            "revoked": revoked.reason,
            "after": [after.valid, after.status],
            "refused": refused,
        }
    )
)
