"""Which code goes online: it imports, or reaches for, something that opens connections."""

import ast
from collections.abc import Callable

from burnish.checks.security.names import IMPORTERS, Names

ONLINE = {
    *("socket", "_socket", "socketserver", "urllib.request", "http.client", "http.server", "xmlrpc", "webbrowser"),
    *("ftplib", "smtplib", "smtpd", "poplib", "imaplib", "nntplib", "telnetlib", "requests", "httpx", "aiohttp"),
    *("urllib3", "urllib2", "httplib2", "pycurl", "treq", "tornado", "twisted", "websocket", "websockets", "paramiko"),
    *("fabric", "grpc", "zmq", "pika", "redis", "pymongo", "psycopg", "psycopg2", "pymysql", "boto3", "botocore"),
    *("asyncssh", "trio.open_tcp_stream", "anyio.connect_tcp", "dns", "scapy", "mechanize", "selenium", "playwright"),
    *("asyncio.open_connection", "asyncio.start_server", "wsgiref.simple_server", "logging.handlers.SocketHandler"),
    *("logging.handlers.HTTPHandler", "logging.handlers.SMTPHandler", "logging.handlers.DatagramHandler"),
}


def going_online(node: ast.AST, names: Names, is_named: Callable[[str], bool] = lambda module: False) -> str:
    """Something that opens connections is imported or used; not what a package brings that the user named."""
    for name in _reached(node, names):
        found = _online(name)
        if found and not is_named(found):
            return f"{found} opens network connections, and nobody asked for any."
    return ""


def _reached(node: ast.AST, names: Names) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Attribute):
        return sorted(names.of(node))
    if isinstance(node, ast.Call):
        return sorted(names.of(node) if names.of(node.func) & IMPORTERS else names.of(node.func))
    return []


def _online(name: str) -> str:
    parts = name.split(".")
    dotted = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
    return next((prefix for prefix in dotted if prefix in ONLINE), "")
