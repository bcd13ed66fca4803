"""For Schemathesis, which does not know NDJSON: `SCHEMATHESIS_HOOKS=schemathesis_hooks`."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def ndjson(ctx, value):
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()
