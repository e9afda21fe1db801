"""A shop of books in Python. Its pages are its own; three parts of each are components that Sluice renders.

    SLUICE_URL=http://127.0.0.1:3000/batch PORT=8000 python3 host/app.py

FRAGMENTS_TIMEOUT_MS (default 300) is the time for the whole batch.
"""

import os
import re
import sys
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from books import BOOKS
from fragments import Fragment, Fragments, Job

FRAGMENTS = Fragments(
    os.environ.get("SLUICE_URL", "http://127.0.0.1:3000/batch"),
    int(os.environ.get("FRAGMENTS_TIMEOUT_MS", "300")) / 1000,
)
# Where browsers get the code of the components: Sluice sends it as a static file.
CLIENT_URL = os.environ.get("CLIENT_URL", "/assets/client.js")


def book_page(number: int, wait_ms: int) -> tuple[str, dict[str, Fragment]]:
    book = BOOKS[number]
    related = [{"title": BOOKS[each]["title"], "href": f"/books/{each}"} for each in book["related"]]
    jobs = {
        "book": Job("Book", {key: book[key] for key in ("title", "author", "price_cents")}, f"<h1>{escape(book['title'])}</h1>"),
        "reviews": Job("Reviews", {"reviews": book["reviews"]}, "<p>Reviews are on their way.</p>"),
        "related": Job("Related", {"books": related, "wait_ms": wait_ms}),
    }
    fragments = FRAGMENTS.render(jobs)
    body = "\n".join(f'<section id="{token}">{fragment.html}</section>' for token, fragment in fragments.items())
    return document(book["title"], body), fragments


def home_page() -> str:
    links = "".join(f'<li><a href="/books/{number}">{escape(book["title"])}</a></li>' for number, book in BOOKS.items())
    return document("Books", f"<h1>Books</h1><ul>{links}</ul>")


def document(title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title><link rel="icon" href="data:,">'
        f'<script defer src="{escape(CLIENT_URL)}"></script></head>\n<body>\n{body}\n</body>\n</html>\n'
    )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        book = re.fullmatch(r"/books/(\d{1,9})", url.path)
        if url.path == "/":
            self.answer(200, home_page())
        elif book and int(book[1]) in BOOKS:
            wait_ms = parse_qs(url.query).get("wait_ms", ["0"])[0]
            html, fragments = book_page(int(book[1]), int(wait_ms) if wait_ms.isdecimal() else 0)
            for token, fragment in fragments.items():
                if fragment.fault is not None:
                    print(f"{url.path}: {token} left to the browser, {fragment.fault}", file=sys.stderr, flush=True)
            self.answer(200, html)
        else:
            self.answer(404, document("Not found", "<h1>Not found</h1>"))

    def answer(self, status: int, html: str) -> None:
        body = html.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Faults are told above; requests are not."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Handler)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
