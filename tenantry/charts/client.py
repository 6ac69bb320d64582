"""oras's client of a registry, with the two things that a push by hand needs: it fails at once, and asks for the right to push.

oras repeats each request for two minutes if a host does not answer, keeps a token that permits only pulling, and knows no
registry that asks for a password instead of a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oras.provider import Registry  # type: ignore[import-untyped]

SECONDS = 60


class Denied(Exception):
    """The registry asks for another login; the text says so of it."""


class Client(Registry):  # type: ignore[misc]
    def do_request(
        self,
        url: str,
        method: str = "GET",
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        stream: bool = False,  # noqa: FBT001, FBT002  as oras calls it
    ) -> Any:
        """Send a request, again with a login if the registry asks for one. Raises: Denied; requests.RequestException."""

        def send(headers: Mapping[str, str]) -> Any:
            return self.session.request(
                method,
                url,
                data=data,
                json=json,
                headers=headers,
                stream=stream,
                verify=self._tls_verify,
                timeout=SECONDS,
            )

        sent = {**(headers or {}), **self.auth.get_auth_header()}
        answer = send(sent)
        if answer.status_code in (401, 403):
            answer = send(self._with_login(answer, sent))
        if answer.status_code in (401, 403):
            raise Denied("does not let this login push")
        return answer

    def _with_login(self, answer: Any, headers: Mapping[str, str]) -> Mapping[str, str]:
        """The headers with what the challenge of a registry asks for."""
        if answer.headers.get("WWW-Authenticate", "").lower().startswith("basic"):
            if login := getattr(self.auth, "_basic_auth", ""):
                return {**headers, "Authorization": f"Basic {login}"}
            raise Denied("asks for a login")
        more, changed = self.auth.authenticate_request(answer, dict(headers), refresh=True)
        if not changed:
            raise Denied("asks for a login")
        return dict(more)
