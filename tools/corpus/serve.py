"""Serves the corpus from its files alone, without a chain: `python3 tools/corpus/serve.py [case …]`.

Prints one line of JSON, {"version", "cases": […]}, whose cases have the form of case.schema.json, and
serves those cases, or all, on a free port of 127.0.0.1 until its standard input ends. The standard
library of Python 3.9 suffices.
"""
import base64
import http.server
import json
import pathlib
import sys
import threading
import time

CORPUS = pathlib.Path(__file__).parent / "cases"
VERSION = CORPUS.with_name("VERSION").read_text(encoding="utf-8").strip()
# One for all answers: nodes that agree have a newest block of one time.
NOW = f"{int(time.time()):08x}"
CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}


def rpc_answer(calls, request):
    """The recorded answer to a JSON-RPC request, or an error for one that was not recorded."""
    asked = (request["method"], request.get("params", []))
    answer = {"error": {"code": -32601, "message": "not in served.json"}}
    for call in calls:
        if (call["method"], call["params"]) == asked:
            answer = {name: call[name] for name in call.keys() - {"method", "params"}}
    text = json.dumps({"jsonrpc": "2.0", "id": request.get("id"), **answer})
    return {"status": 200, "type": "application/json", "text": text.replace("<now>", NOW)}


def body_of(reply):
    if "base64" in reply:
        return base64.b64decode(reply["base64"])
    return reply.get("text", "").encode() + bytes(reply.get("zeros", 0))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_OPTIONS(self):
        self.reply({"status": 204})

    def do_GET(self):
        self.reply(self.server.get.get(self.path.split("?")[0], {"status": 404}))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        reply = self.server.post.get(self.path, {"status": 404})
        self.reply(rpc_answer(reply, json.loads(body)) if isinstance(reply, list) else reply)

    def reply(self, reply):
        if reply == "never":
            return self.wait()
        if reply == "hang up":
            self.close_connection = True
            return
        body, unfinished = body_of(reply), reply.get("unfinished", False)
        self.send_response(reply["status"])
        for name, value in CORS.items() if reply.get("cors", True) else ():
            self.send_header(name, value)
        if "location" in reply:
            self.send_header("Location", reply["location"])
        if "type" in reply:
            self.send_header("Content-Type", reply["type"])
        if reply["status"] != 204:
            self.send_header("Content-Length", str(len(body) + unfinished))
        self.end_headers()
        self.wfile.write(body)
        if unfinished:
            self.wait()

    def wait(self):
        """Until the client gives up."""
        self.close_connection = True
        self.connection.recv(1)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # A client may leave at any time.
            super().handle_error(request, client_address)


def start(names):
    """Serves the named cases, or all, and returns them in the form of case.schema.json."""
    server = Server(("127.0.0.1", 0), Handler)
    server.get, server.post = {}, {}
    url, cases = f"http://127.0.0.1:{server.server_port}", []
    for file in sorted(CORPUS.glob("*/served.json")):
        served = json.loads(file.read_text(encoding="utf-8"))
        if names and served["case"] not in names:
            continue
        server.get.update(served.pop("get"))
        server.post.update(served.pop("post"))
        about = json.loads(file.with_name("case.json").read_text(encoding="utf-8"))
        served |= {"title": about["title"], "why": about["why"]}
        for door in "rpc", "ipfs":
            served[door] = [url + path for path in served[door]]
        if "domain" in served:
            served["domain"]["served"] = url + served["domain"]["served"]
        cases.append(served)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return cases


if __name__ == "__main__":
    print(json.dumps({"version": VERSION, "cases": start(sys.argv[1:])}), flush=True)
    sys.stdin.read()
