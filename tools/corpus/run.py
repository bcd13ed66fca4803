"""Runs a verifier through the corpus: `python3 tools/corpus/run.py [case …] -- <program> [argument …]`.

README.md has the contract of the program, which is started once for each case. Exit code: 0 every
verdict is as expected, 1 some are not, 2 nothing was judged. The standard library of Python 3.9
suffices.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

import serve

SECONDS = 60
USAGE = "usage: python3 tools/corpus/run.py [case ...] -- <program> [argument ...]"


def ask(program, case):
    """The program's verdict. Raises ValueError with what is wrong with its answer."""
    given = json.dumps({name: case[name] for name in case if name != "expected"})
    try:
        ran = subprocess.run(program, input=given.encode(), capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise ValueError(f"no verdict after {SECONDS} s") from None
    if ran.returncode != 0:
        said = ran.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise ValueError(f"exit code {ran.returncode}; standard error says: {said[-1]}")
    try:
        verdict = json.loads(ran.stdout.decode())
    except ValueError:
        verdict = None
    if not isinstance(verdict, dict):
        raise ValueError("standard output is not one JSON object")
    return verdict


def by_check(entries):
    """`["record fail not_issued"]` as `{"record": ["fail", "not_issued"]}`."""
    return {entry.split()[0]: entry.split()[1:] for entry in entries}


def same_checks(told, expected):
    """Whether the same checks do not pass; a verdict may leave codes out."""
    told, expected = by_check(told), by_check(expected)
    return told.keys() == expected.keys() and all(
        told[check] in (expected[check], expected[check][:1]) for check in told
    )


def differences(verdict, expected):
    """Yields each member of the verdict that is not as expected."""
    if "error" in expected:
        if "error" not in verdict or verdict["error"] not in (None, expected["error"]):
            yield "error", verdict.get("error"), expected["error"]
        return
    for name, absent in ("status", None), ("document", None), ("disclosed", None):
        if verdict.get(name, absent) != expected.get(name, absent):
            yield name, verdict.get(name, absent), expected.get(name, absent)
    for name in "setAside", "issuerClosed":
        if name in verdict and verdict[name] != expected.get(name, False):
            yield name, verdict[name], expected.get(name, False)
    for name in "identity", "otherRegistryHinted":
        if name in verdict and name in expected and verdict[name] != expected[name]:
            yield name, verdict[name], expected[name]
    if "notPassed" in verdict and not same_checks(verdict["notPassed"], expected["notPassed"]):
        yield "notPassed", verdict["notPassed"], expected["notPassed"]


def judge(program, case):
    """What is said of the case: nothing if the verdict is as expected."""
    try:
        verdict = ask(program, case)
        if "skip" in verdict:
            return "skipped", verdict["skip"]
        wrong = list(differences(verdict, case["expected"]))
    except (ValueError, TypeError, AttributeError, IndexError) as error:
        return "differs", str(error)
    told = "; ".join(f"{name} is {json.dumps(is_)}, not {json.dumps(be)}" for name, is_, be in wrong)
    return ("differs", told) if wrong else (None, None)


def main(arguments):
    if "--" not in arguments[:-1]:
        return USAGE
    split = arguments.index("--")
    names, program = arguments[:split], arguments[split + 1 :]
    cases = serve.start(names)
    missing = set(names) - {case["case"] for case in cases}
    if missing:
        return f"there is no case {sorted(missing)[0]}"
    counts = {None: 0, "differs": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            judged = list(pool.map(lambda case: judge(program, case), cases))
        except OSError as error:
            return f"{program[0]} cannot be started: {error.strerror}"
    for case, (kind, said) in zip(cases, judged):
        counts[kind] += 1
        if kind:
            print(f"{kind}  {case['case']}: {said}")
    print(
        f"corpus {serve.VERSION}: {counts[None]} as expected, {counts['differs']} differ,"
        f" {counts['skipped']} skipped"
    )
    if counts["differs"]:
        return 1
    return 0 if counts[None] else 2


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    if isinstance(ended, str):
        print(ended, file=sys.stderr)
        ended = 2
    sys.exit(ended)
