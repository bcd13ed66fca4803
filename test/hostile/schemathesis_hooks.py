"""For Schemathesis, which does not know NDJSON: `SCHEMATHESIS_HOOKS=schemathesis_hooks`."""

import ast
import json
import threading

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
