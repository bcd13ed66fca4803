"""Runs a program once for each line of standard input, a JSON list of its arguments; its imports are paid for once.

Answers each with a line of JSON: {code, output, errors}.
"""
import contextlib
import io
import json
import runpy
import sys

program = sys.argv[1]
for line in sys.stdin:
    sys.argv = [program, *json.loads(line)]
    output, errors, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            code = end.code
    print(json.dumps({"code": code, "output": output.getvalue(), "errors": errors.getvalue()}), flush=True)
