"""Calls of webhooks as a Git host makes them."""

from __future__ import annotations

import hashlib
import hmac
import json
from http.client import HTTPConnection
from urllib.parse import urlsplit


def signed_push(url: str, token: str) -> int:
    """What a webhook answers to a push as GitHub signs it."""
    where, body = urlsplit(url), json.dumps({"ref": "refs/heads/main"}).encode()
    signature = hmac.new(token.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": "push",
        "X-Hub-Signature-256": f"sha256={signature}",
        "Content-Type": "application/json",
    }
    connection = HTTPConnection(where.netloc, timeout=10)
    try:
        connection.request("POST", where.path, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()
