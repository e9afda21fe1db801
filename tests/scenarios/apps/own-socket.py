# The smallest server in another language: Python's own, on the socket that the gateway names.
import http.server
import os
import socketserver


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"python, for {self.headers['X-Forwarded-For']}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

    # The peer of a unix socket has no address.
    def address_string(self):
        return "gateway"


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


Server(os.environ["SLUICE_SOCKET"], Handler).serve_forever()
