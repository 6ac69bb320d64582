"""When a token of a service account or an identity provider was issued and expires, as far as it says.

Source: RFC 7519, sections 4.1.4 and 4.1.6.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta


def end_of_token(token: str) -> datetime | None:
    """When a token expires; None: it does not say, or is of another form."""
    return _moment(token, "exp")


def lifetime_of_token(token: str) -> timedelta | None:
    """For how long a token is valid in all; None as for `end_of_token`."""
    begin, end = _moment(token, "iat"), _moment(token, "exp")
    return end - begin if begin and end else None


def _moment(token: str, claim: str) -> datetime | None:
    _, _, claims = token.rpartition(".")[0].rpartition(".")
    try:
        content = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        return datetime.fromtimestamp(content[claim], UTC)
    except (ValueError, LookupError, TypeError, OSError, OverflowError, RecursionError):
        return None
