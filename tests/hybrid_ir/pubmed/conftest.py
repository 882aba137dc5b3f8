"""A local server of PubMed files that misbehaves on demand."""

import hashlib
import random
import sys
import threading
import time
from collections import defaultdict
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from hybrid_ir.pubmed.polite import HttpConfig
from hybrid_ir.pubmed.sync import SyncConfig

NAMES = {
    "baseline": ["pubmed25n0001.xml.gz", "pubmed25n0002.xml.gz"],
    "updatefiles": ["pubmed25n0003.xml.gz"],
}

APACHE = '<a href="{name}">{name}</a>{blank} 2025-01-10 12:52  {size}\n'
NGINX = '<a href="{name}">{name}</a>{blank} 10-Jan-2025 12:52    {bytes}\n'
TABLE = (
    '<tr><td><a href="/pubmed/{name}">{name}</a></td><td align="right">2025-01-10 12:52 </td>'
    '<td align="right"> {size}</td><td>&nbsp;</td></tr>\n'
)


class PubMedServer:
    """Serves what it was given; ``faults`` of a path are used up, one a request.

    A fault is a function that takes the request's handler and answers in its place, or ``None`` for
    a proper answer.
    """

    def __init__(self):
        self.files = {}
        self.listed = defaultdict(dict)
        self.faults = defaultdict(list)
        self.always = {}
        self.requests = []
        self.styles = {"APACHE": APACHE, "NGINX": NGINX, "TABLE": TABLE}
        self.style = APACHE
        self.ranges = True
        self.validators = "etag"
        self.chunk_pause = 0.0
        self.date = time.time()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self.url = f"http://127.0.0.1:{self._http.server_port}/pubmed/"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self):
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def publish(self, kind, name, content, size="1.0M"):
        """Put a file, its sum and its line on the page of its folder."""
        digest = hashlib.md5(content).hexdigest()
        self.files[f"{kind}/{name}"] = content
        self.files[f"{kind}/{name}.md5"] = f"MD5 ({name}) = {digest}\n".encode()
        self.listed[kind][name] = size

    @staticmethod
    def content_of(name):
        """Give the bytes that stand for a file: random, the same for the same name."""
        return random.Random(name).randbytes(300_000)

    @staticmethod
    def downloaded(folder):
        """Give what lies below a folder, but for what sync keeps for itself."""
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in ("sums.json", ".lock")
        }

    def config(self, **settings):
        """Give settings that ask this server, without waiting."""
        http = {"pause": 0.0, "backoff": 0.01, "timeout": 2.0, **settings.pop("http", {})}
        return SyncConfig(self.url, http=HttpConfig(**http), **settings)

    def command(self, folder):
        """Give the command that does the same in a process of its own."""
        settings = (f"base_url={self.url}", "http.pause=0", "http.backoff=0.01")
        program = (sys.executable, "-m", "hybrid_ir.cli")
        return [*program, "pubmed", "sync", "--output", str(folder), *settings]

    def page(self, kind):
        lines = ['<a href="../">Parent Directory</a>\n']
        for name, size in self.listed[kind].items():
            length = len(self.files.get(f"{kind}/{name}", b""))
            for one in (name, f"{name}.md5"):
                lines.append(self.style.format(name=one, blank="  ", size=size, bytes=length))
        title = f"<title>Index of /pubmed/{kind}</title>"
        return f"<html><head>{title}</head><pre>{''.join(lines)}</pre></html>".encode()

    def cut(self, count):
        """Close the connection after so many bytes of the body."""
        return lambda handler: handler.file(self.files[handler.name()], cut=count)

    @staticmethod
    def status(code, **headers):
        """Answer with a status."""
        return lambda handler: handler.answer(code, b"no", **headers)

    @staticmethod
    def sends(content):
        """Send other bytes than the file's."""
        return lambda handler: handler.answer(200, content, ETag='"other"')

    @staticmethod
    def hang(seconds):
        """Say nothing for a while, then close."""

        def fault(handler):
            time.sleep(seconds)
            handler.close_connection = True

        return fault

    def stall(self, count, seconds):
        """Send so many bytes of the body, then nothing for a while."""

        def fault(handler):
            handler.file(self.files[handler.name()], cut=count)
            handler.wfile.flush()
            time.sleep(seconds)

        return fault

    def asked(self, path):
        """Give the headers of every request for a path."""
        return [headers for asked, headers, _ in self.requests if asked == path]


def _handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            path = self.name()
            server.requests.append((path, dict(self.headers), time.monotonic()))
            waiting = server.faults[path]
            fault = waiting.pop(0) if waiting else server.always.get(path)
            try:
                if fault:
                    fault(self)
                elif path.endswith("/"):
                    self.answer(200, server.page(path.removesuffix("/")))
                elif path in server.files:
                    self.file(server.files[path])
                else:
                    self.answer(404, b"not here")
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def name(self):
            return self.path.removeprefix("/pubmed/")

        def answer(self, status, content, **headers):
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            for start in range(0, len(content), 8192):
                self.wfile.write(content[start : start + 8192])
                if server.chunk_pause:
                    self.wfile.flush()
                    time.sleep(server.chunk_pause)

        def file(self, content, cut=None):
            """Answer with a file or, asked for a range of the version there is, with the rest."""
            validator = self.validator(content)
            asked, condition = self.headers.get("Range"), self.headers.get("If-Range")
            headers = dict(validator)
            status = 200
            if asked and server.ranges and condition in (None, *validator.values()):
                start = int(asked.removeprefix("bytes=").removesuffix("-"))
                if start >= len(content):
                    return self.answer(416, b"", Content_Range=f"bytes */{len(content)}")
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
                status, content = 206, content[start:]
            if cut is None:
                return self.answer(status, content, **headers)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[:cut])
            self.close_connection = True
            return None

        def validator(self, content):
            if server.validators == "etag":
                return {"ETag": f'"{hashlib.sha1(content).hexdigest()}"'}
            if server.validators == "date":
                return {"ETag": 'W/"weak"', "Last-Modified": formatdate(server.date, usegmt=True)}
            return {}

        def log_message(self, *_):
            pass

    return Handler


@pytest.fixture
def server():
    """An empty server; publish files on it."""
    made = PubMedServer()
    yield made
    made.close()


@pytest.fixture
def published(server):
    """A server with two files of a baseline and an update, and what is to be downloaded of it."""
    for kind, names in NAMES.items():
        for name in names:
            server.publish(kind, name, server.content_of(name))
    server.names = NAMES
    server.expected = {
        f"{kind}/{name}": server.content_of(name) for kind, names in NAMES.items() for name in names
    }
    return server
