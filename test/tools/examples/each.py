"""Runs a program once for each line of standard input; its imports are paid for once.

A line is JSON: {args, domain}. `domain` is {address, served}, where the document of a domain is served, or null.

Answers each with a line of JSON: {code, output, errors}.
"""
import contextlib
import io
import json
import runpy
import sys

import requests

get = requests.Session.get


def asking(domain):
    def ask(session, url, **options):
        if domain is None or url != domain["address"]:
            raise requests.ConnectionError("no such domain")
        return get(session, domain["served"], **options)

    return ask


program = sys.argv[1]
for line in sys.stdin:
    call = json.loads(line)
    sys.argv, requests.Session.get = [program, *call["args"]], asking(call["domain"])
    output, errors, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            code = end.code
    print(json.dumps({"code": code, "output": output.getvalue(), "errors": errors.getvalue()}), flush=True)
