"""Judges one case of the corpus with verify.py, under the contract of tools/corpus/README.md:

    python3 tools/corpus/run.py -- python3 tools/examples/judge.py
"""
import contextlib, io, json, pathlib, runpy, sys
import requests

case = json.load(sys.stdin)
if case["asOf"] is not None or len(case["rpc"]) != 1:
    print(json.dumps({"skip": "verify.py asks one node about its newest block"}))
    sys.exit()

domain, get = case.get("domain"), requests.Session.get

def get_domain(session, url, **options):  # verify.py makes no other request with a session
    if domain is None or url != domain["address"]: raise requests.ConnectionError("no such domain")
    return get(session, domain["served"], **options)

requests.Session.get = get_domain
sys.argv = ["verify.py", "--rpc", case["rpc"][0], "--registry", case["registry"]]
for url in case["ipfs"]: sys.argv += ["--ipfs", url]
sys.argv += ["--max-head-age", str(case["maxHeadAge"]), "--timeout", str(case["timeout"])]
if domain is None: sys.argv += ["--no-identity"]
if "issuerDomain" in case: sys.argv += ["--issuer-domain", case["issuerDomain"]]
publicId = case["given"].split("#publicId=")[-1].split("&")[0]
sys.argv += ["--", case["given"] if {"presentation", "credential"} & case.keys() else publicId]

output = io.StringIO()
with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
    runpy.run_path(str(pathlib.Path(__file__).with_name("verify.py")), run_name="__main__")
if not output.getvalue():  # it refuses what is malformed, without a code
    print(json.dumps({"error": None}))
    sys.exit()
report = json.loads(output.getvalue())
shown = report.get("disclosed")

def told(check):  # it tells fewer codes of `content` apart
    return " ".join([check["check"], check["outcome"]] + ([check["code"]] if check["check"] != "content" else []))

notPassed = [one for one in report["checks"] if one["outcome"] != "pass"]
identity = [f"{one['outcome']} {one['code']}" for one in report["checks"] if one["check"] == "identity"]
print(json.dumps({
    "status": report["status"],
    "document": (shown if "disclosed" in report else report["document"]) is not None,
    "disclosed": shown,
    "notPassed": [told(one) for one in notPassed if one["check"] != "identity"],
    **({"identity": identity[0]} if identity else {}),
}))
