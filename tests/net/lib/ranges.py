"""A file server on loopback that serves parts of files, and counts."""

import os
import re
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        files = self.server.files
        if files.elsewhere:
            self.send_response(302)
            self.send_header("Location", files.elsewhere + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path = self.path.lstrip("/")
        if not os.path.exists(path):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        with open(path, "rb") as file:
            data = file.read()
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        if asked and files.ranges:
            first, last = int(asked[1]), int(asked[2])
            self.send_response(206)
            self.send_header("Content-Range",
                             f"bytes {first}-{last}/{len(data)}")
            data = data[first:last + 1]
        else:
            self.send_response(200)
        files.requests += 1
        files.bytes += len(data)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except ConnectionError:
            pass


class Files:
    """`seal`: files of a certificate and its key, for https.  `elsewhere`: an
    address to which all are sent on."""

    def __init__(self, ranges=True, seal=None, elsewhere=None):
        self.ranges = ranges
        self.elsewhere = elsewhere
        self.requests = 0
        self.bytes = 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.files = self
        self.server.handle_error = lambda *_: None
        self.address = "%s://127.0.0.1:%d" % ("https" if seal else "http",
                                              self.server.server_port)
        if seal:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*seal)
            self.server.socket = context.wrap_socket(
                self.server.socket, server_side=True,
                do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
