"""A chart in an OCI registry, as `helm push` puts it there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oras.provider import Registry  # type: ignore[import-untyped]

from tenantry.charts.package import Package
from tenantry.messages.errors import Refused
from tenantry.messages.redact import presentable

CONFIG = "application/vnd.cncf.helm.config.v1+json"
CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
"""The media types by which Helm and Flux know a chart: of the configuration and of the layer."""
_URL = re.compile(r"oci://(?P<host>[A-Za-z0-9.-]+(?::\d+)?)(?P<path>(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)+)/?")


def config_of(metadata: Mapping[str, Any]) -> bytes:
    """The configuration of a chart's artifact. Dates of a Chart.yaml are YAML's, which JSON cannot express."""
    return json.dumps(metadata, sort_keys=True, default=str).encode()


def push(chart: Package, url: str, *, plain_http: bool = False) -> tuple[str, str]:
    """Push a chart below `oci://HOST/PATH`, under its name, with its version as tag. Returns: its address and its digest.

    Logins are those of `docker login` and `helm registry login`.
    Raises: Refused: the URL is wrong, or the registry does not take the chart.
    """
    parts = _URL.fullmatch(url)
    if parts is None:
        message = f"'{presentable(url)}' is not the address of a registry"
        raise Refused(message, "write oci://HOST/PATH, with a path in lower case and without a tag")
    host, name = parts["host"], f"{parts['path'].strip('/')}/{chart.name}"
    with _refusals(host), tempfile.TemporaryDirectory(prefix="tenantry-") as directory:
        config, archive = Path(directory, "config.json"), Path(directory, chart.file)
        config.write_bytes(config_of(chart.metadata))
        archive.write_bytes(chart.archive)
        answer = _registry(f"{host}/{name}", plain_http=plain_http).push(
            target=f"{host}/{name}:{chart.tag}",
            disable_path_validation=True,
            files=[f"{archive}:{CONTENT}"],
            manifest_config=f"{config}:{CONFIG}",
            manifest_annotations={
                "org.opencontainers.image.title": chart.name,
                "org.opencontainers.image.version": chart.version,
            },
            quiet=True,
        )
    return f"oci://{host}/{name}:{chart.tag}", f"sha256:{hashlib.sha256(answer.request.body).hexdigest()}"


def _registry(name: str, *, plain_http: bool) -> Any:
    from tenantry.charts.push import Client

    registry = Client(hostname=name.partition("/")[0], insecure=plain_http)
    registry.auth.load_configs(
        registry.get_container(name), configs=[str(login) for login in _logins() if login.is_file()]
    )
    return registry


def _logins() -> tuple[Path, ...]:
    """The files of `docker login` and `helm registry login`."""
    variables, home = os.environ, Path.home()
    docker = Path(variables.get("DOCKER_CONFIG") or home / ".docker")
    configs = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
    helm = Path(variables.get("HELM_CONFIG_HOME") or configs / "helm") / "registry"
    return docker / "config.json", Path(variables.get("HELM_REGISTRY_CONFIG") or helm / "config.json")


@contextmanager
def _refusals(host: str) -> Iterator[None]:
    """Say what a registry or the network refused, and what helps."""
    import requests

    from tenantry.charts.push import SECONDS, Denied

    network = "check the address and the network"
    try:
        yield
    except Denied as denied:
        fix = f"log in with `docker login {host}` or `helm registry login {host}`, as a user who may push there"
        raise Refused(f"{host} {denied}", fix) from None
    except requests.exceptions.SSLError:
        message = f"{host} speaks no TLS, or has a certificate that is not trusted"
        raise Refused(message, "use --plain-http if it speaks HTTP") from None
    except requests.exceptions.Timeout:
        raise Refused(f"{host} did not answer within {SECONDS} seconds", network) from None
    except requests.exceptions.ConnectionError:
        raise Refused(f"{host} does not answer", network) from None
    except (ValueError, requests.exceptions.RequestException) as failed:
        raise Refused(f"{host} does not take the chart: {presentable(str(failed))}", network) from None


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
