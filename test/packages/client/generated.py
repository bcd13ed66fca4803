"""Uses the client that openapi-python-client has made, as a program of an integrator would.

python generated.py FOLDER URL API_KEY; FOLDER has the package `registry_client`. Prints what it
learned as JSON.
"""

import datetime
import importlib
import io
import json
import pkgutil
import sys

folder, url, api_key = sys.argv[1:]
sys.path.insert(0, folder)

import registry_client  # noqa: E402

modules = [
    importlib.import_module(name).__name__
    for _, name, _ in pkgutil.walk_packages(registry_client.__path__, "registry_client.")
]

from registry_client import AuthenticatedClient  # noqa: E402
from registry_client.api.batches import issue_batch  # noqa: E402
from registry_client.api.documents import (  # noqa: E402
    issue_document,
    list_documents,
    retrieve_document,
    revoke_document,
)
from registry_client.api.keys import create_key, retrieve_key  # noqa: E402
from registry_client.api.verification import verify_document  # noqa: E402
from registry_client.models import (  # noqa: E402
    CreateKeyBody,
    NewDocument,
    NewDocumentMetadata,
    Revocation,
    RevocationReason,
    Scope,
)
from registry_client.types import File  # noqa: E402

client = AuthenticatedClient(base_url=url, token=api_key)

metadata = NewDocumentMetadata.from_dict({"registrar": "Testville"})
document = NewDocument(
    subject_name="Ada Lovelace",
    subject_id="18151210",
    category="birth_certificate",
    issued_at="2026-01-31",
    metadata=metadata,
)
issued = issue_document.sync(client=client, body=document, idempotency_key='"order-4711"').data
again = issue_document.sync(client=client, body=document, idempotency_key='"order-4711"').data
read = retrieve_document.sync(issued.public_id, client=client).data
page = list_documents.sync(client=client, category="birth_certificate").data

revocation = Revocation(reason=RevocationReason.KEYCOMPROMISE)
revoked = revoke_document.sync(issued.public_id, client=client, body=revocation).data
verdict = verify_document.sync(client=client, public_id=issued.public_id).data

refused = issue_document.sync(
    client=client,
    body=NewDocument(subject_name="", subject_id="x", category="x", issued_at="2026-01-31"),
)

lines = "".join(json.dumps({**document.to_dict(), "subjectId": str(i)}) + "\n" for i in range(3))
upload = File(payload=io.BytesIO(lines.encode()))
batch = issue_batch.sync_detailed(client=client, body=upload)

made = create_key.sync(
    client=client, body=CreateKeyBody(scopes=[Scope.VERIFY])
).data
key = retrieve_key.sync(made.id, client=client).data

assert isinstance(key.created_at, datetime.datetime)
print(
    json.dumps(
        {
            "modules": len(modules),
            "publicId": issued.public_id,
            "again": again.public_id,
            "read": [read.subject_name, read.metadata["registrar"], read.status],
            "listed": [one.public_id for one in page.documents],
            "revoked": [revoked.status, revoked.reason],
            "verdict": [verdict.valid, verdict.status],
            "refused": [refused.error.code, [one.field for one in refused.error.details]],
            "batch": [batch.status_code, len(batch.content.splitlines())],
            "key": [key.id == made.id, key.scopes],
        }
    )
)
