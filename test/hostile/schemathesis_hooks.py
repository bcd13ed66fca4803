"""For Schemathesis: `SCHEMATHESIS_HOOKS=schemathesis_hooks`, with API_KEY in the environment.

It does not know NDJSON, and sends names that nothing has: then most answers are 404.

Schemathesis 4.32.5 (PyPI) makes requests from /openapi.json. Start a service with RATE_LIMIT=off,
ADDRESS_RATE_LIMIT=off, WEBHOOK_ALLOW_PRIVATE=true and API_KEY, and in this folder:

    SCHEMATHESIS_HOOKS=schemathesis_hooks PYTHONPATH=. schemathesis run \\
      http://127.0.0.1:3000/openapi.json -H "Authorization: Bearer $API_KEY" \\
      --workers 4 --phases examples,coverage,fuzzing --max-examples 1000 --max-time 600 \\
      --continue-on-failure --seed 404 --exclude-operation-id revokeKey \\
      --checks not_a_server_error,status_code_conformance,content_type_conformance,\\
    response_schema_conformance,unsupported_method,key_is_accepted
"""

import ast
import atexit
import json
import os
import random
import threading
import urllib.request

import schemathesis

# Two threads that parse at the same time fail with "AST constructor recursion depth mismatch"
# (python/cpython#106905, mended in 3.11.8 and 3.12.2): Schemathesis then reports an error of an
# operation in its coverage phase.
parse = ast.parse
parsing = threading.Lock()


def parse_alone(*args, **kwargs):
    with parsing:
        return parse(*args, **kwargs)


ast.parse = parse_alone


@schemathesis.serializer("application/x-ndjson")
def ndjson(ctx, value):
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


DOCUMENT = {
    "subjectName": "Ada Lovelace",
    "category": "birth_certificate",
    "issuedAt": "2026-01-31",
}
RECEIVER = {"url": "http://127.0.0.1:9"}
# Hypothesis seeds the shared generator again and again.
chance = random.Random()


def post(base, path, body, media_type="application/json"):
    request = urllib.request.Request(
        base.rstrip("/") + path,
        data=json.dumps(body).encode() + b"\n",
        headers={
            "Authorization": f"Bearer {os.environ['API_KEY']}",
            "Content-Type": media_type,
        },
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["data"]


def document():
    return {**DOCUMENT, "subjectId": str(chance.randrange(10**18))}


# By the beginning of the path: how to make what its parameter names.
MAKERS = {
    "/v1/documents/": lambda base: post(base, "/v1/documents", document())["publicId"],
    "/qr/": lambda base: post(base, "/v1/documents", document())["publicId"],
    "/v1/batches/": lambda base: post(base, "/v1/batches", document(), "application/x-ndjson")[
        "batchRoot"
    ],
    "/v1/webhooks/": lambda base: post(base, "/v1/webhooks", RECEIVER)["id"],
    "/v1/keys/": lambda base: post(base, "/v1/keys", {"scopes": ["verify"]})["id"],
}
made = {start: [] for start in MAKERS}


def real_name(base, start):
    """A new name now and then: requests erase, revoke and delete what earlier ones named."""
    if not made[start] or chance.random() < 0.1:
        try:
            made[start].append(MAKERS[start](base))
        except OSError:
            pass
    return chance.choice(made[start][-20:]) if made[start] else None


@schemathesis.hook
def before_call(ctx, case, kwargs):
    start = next((one for one in MAKERS if case.path.startswith(one + "{")), None)
    if start is None or not case.path_parameters:
        return
    (name,) = case.path_parameters
    # A case must not change the key of this run, whose id the answers name.
    is_change = start == "/v1/keys/" and case.method != "GET"
    if is_change or chance.random() < 0.5:
        real = real_name(case.operation.base_url, start)
        case.path_parameters = {name: real or "none"}


sent = {"with the key": 0, "refused": 0}


@schemathesis.check
def key_is_accepted(ctx, response, case):
    """A service that has lost the key of this run answers 401 to everything, and tests nothing."""
    if response.request.headers.get("Authorization") != f"Bearer {os.environ['API_KEY']}":
        return
    sent["with the key"] += 1
    sent["refused"] += response.status_code == 401
    assert response.status_code != 401, "the API key of this run was refused"


@atexit.register
def report():
    print(f"Requests with the API key: {sent['with the key']}; 401: {sent['refused']}")
