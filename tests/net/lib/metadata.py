"""Metadata servers of the three providers, on loopback.

Each answers as the provider's book says, only to requests that carry what the
book asks for; `take()` begins the end.  `wrong` counts requests that would not
have been answered."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "bWV0YWRhdGE="


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, text=""):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        self.server.place.put(self)

    def do_GET(self):
        self.server.place.get(self)


class Place:
    """One provider's server."""

    def __init__(self):
        self.taken = False
        self.looks = 0
        self.wrong = 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.place = self
        self.address = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self):
        self.taken = True

    def put(self, request):
        self.wrong += 1
        request.answer(405)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Aws(Place):
    """IMDSv2; the first token is too old after two looks."""

    def put(self, request):
        if (request.path != "/latest/api/token" or
                not request.headers["X-aws-ec2-metadata-token-ttl-seconds"]):
            self.wrong += 1
            return request.answer(400)
        return request.answer(200, TOKEN + str(self.looks > 1))

    def get(self, request):
        token = request.headers["X-aws-ec2-metadata-token"] or ""
        if (not token.startswith(TOKEN) or request.path !=
                "/latest/meta-data/spot/instance-action"):
            self.wrong += 1
            return request.answer(400)
        self.looks += 1
        if self.looks > 1 and token != TOKEN + "True":
            return request.answer(401)
        if not self.taken:
            return request.answer(404)
        return request.answer(200, json.dumps(
            {"action": "terminate", "time": "2026-01-01T00:00:00Z"}))


class Gcp(Place):
    def get(self, request):
        if (request.headers["Metadata-Flavor"] != "Google" or request.path !=
                "/computeMetadata/v1/instance/preempted"):
            self.wrong += 1
            return request.answer(403)
        self.looks += 1
        return request.answer(200, "TRUE" if self.taken else "FALSE")


class Azure(Place):
    """Another machine of the set is taken all the time."""

    def get(self, request):
        path = request.path.split("?")[0]
        if request.headers["Metadata"] != "true" or "api-version=" not in \
                request.path:
            self.wrong += 1
            return request.answer(400)
        if path == "/metadata/instance/compute/name":
            return request.answer(200, "ours")
        if path != "/metadata/scheduledevents":
            self.wrong += 1
            return request.answer(404)
        self.looks += 1
        events = [{"EventType": "Preempt", "Resources": ["theirs"]},
                  {"EventType": "Reboot", "Resources": ["ours"]}]
        if self.taken:
            events.append({"EventType": "Preempt", "Resources": ["ours"]})
        return request.answer(200, json.dumps({"Events": events}))
