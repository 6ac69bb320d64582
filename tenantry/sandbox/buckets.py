"""Published charts and buckets, made from plain folders, and how they are served: read-only."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.etree import ElementTree as ET

import yaml

from tenantry.charts.package import CREATED, Package, files_of, package
from tenantry.sandbox import layout
from tenantry.sandbox.layout import SandboxError
from tenantry.sandbox.logins import Response

NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
RESERVED = frozenset({"charts", "git", "healthz"})
"""Names that buckets cannot have: the content server serves something else under them."""
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


def publish_bucket(source: Path, target: Path) -> None:
    """Publish the folders of `source`, each as a bucket; empty folders are skipped.

    Raises:  SandboxError: a name that no bucket can have.
    """
    files = {name: data for name, data in files_of(source).items() if "/" in name}
    for bucket in {name.partition("/")[0] for name in files}:
        if bucket in RESERVED or not NAME.fullmatch(bucket):
            message = f"{source / bucket}: no bucket can be called '{bucket}' here"
            taken = ", ".join(sorted(RESERVED))
            raise SandboxError(message, f"use 3 to 63 small letters, digits, dots and hyphens, and none of {taken}")
    layout.publish_files(files, target)


def serve(directory: Path, target: str, headers: Mapping[str, str]) -> Response:
    """Answer one request for a bucket, /<bucket>, or something in it."""
    url = urlsplit(target)
    bucket, _, key = unquote(url.path).removeprefix("/").partition("/")
    if bucket not in {path.name for path in directory.glob("*")}:
        return _error(HTTPStatus.NOT_FOUND, "NoSuchBucket")
    if "Authorization" not in headers:
        return _error(HTTPStatus.FORBIDDEN, "AccessDenied")
    if key:
        return _object(directory / bucket, key)
    query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
    if "location" in query:
        # Empty means the first region.
        return _xml(ET.Element("LocationConstraint", xmlns=NAMESPACE))
    if query.get("delimiter"):
        return _error(HTTPStatus.NOT_IMPLEMENTED, "NotImplemented")
    return _xml(_list(directory / bucket, query))


def _object(bucket: Path, key: str) -> Response:
    # Looked up among the existing files, so that no key leads out of the bucket.
    path = _objects(bucket).get(key)
    if path is None:
        return _error(HTTPStatus.NOT_FOUND, "NoSuchKey")
    headers = {
        "Content-Type": "application/octet-stream",
        "ETag": _etag(path),
        "Last-Modified": format_datetime(_modified(path), usegmt=True),
    }
    return Response(HTTPStatus.OK, headers, path.read_bytes())


def _list(bucket: Path, query: Mapping[str, str]) -> ET.Element:
    """All objects in one page, however many there are."""
    prefix, encoded = query.get("prefix", ""), query.get("encoding-type") == "url"
    found = {key: path for key, path in _objects(bucket).items() if key.startswith(prefix)}
    result = ET.Element("ListBucketResult", xmlns=NAMESPACE)
    about = {
        "Name": bucket.name,
        "Prefix": prefix,
        "KeyCount": len(found),
        "MaxKeys": len(found),
        "IsTruncated": "false",
    }
    _fill(result, about | ({"EncodingType": "url"} if encoded else {}))
    for key, path in found.items():
        entry = {
            "Key": quote(key) if encoded else key,
            "LastModified": _modified(path).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "ETag": _etag(path),
            "Size": path.stat().st_size,
            "StorageClass": "STANDARD",
        }
        _fill(ET.SubElement(result, "Contents"), entry)
    return result


def _objects(bucket: Path) -> dict[str, Path]:
    """The files by key, in the order of the keys."""
    paths = (path for path in bucket.rglob("*") if path.is_file())
    return dict(sorted((path.relative_to(bucket).as_posix(), path) for path in paths))


def _etag(path: Path) -> str:
    return f'"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}"'


def _modified(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _error(status: HTTPStatus, code: str) -> Response:
    element = ET.Element("Error")
    _fill(element, {"Code": code, "Message": status.description})
    return _xml(element, status)


def _fill(element: ET.Element, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        ET.SubElement(element, name).text = str(value)


def _xml(element: ET.Element, status: HTTPStatus = HTTPStatus.OK) -> Response:
    body: bytes = ET.tostring(element, encoding="utf-8", xml_declaration=True)
    return Response(status, {"Content-Type": "application/xml"}, body)


INDEX = "index.yaml"


def publish_charts(charts: Iterable[Path], target: Path) -> None:
    """Make the directory hold exactly these charts and their index; unchanged files are not written."""
    packages = sorted((package(chart) for chart in charts), key=lambda each: each.file)
    files = {each.file: each.archive for each in packages}
    files[INDEX] = _index(packages)
    layout.publish_files(files, target)


def _index(packages: Iterable[Package]) -> bytes:
    entries: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for chart in packages:
        entries[chart.name].append(_entry(chart))
    return yaml.safe_dump({"apiVersion": "v1", "entries": dict(entries), "generated": CREATED}).encode()


def _entry(chart: Package) -> dict[str, Any]:
    """What the index says about a chart."""
    digest = hashlib.sha256(chart.archive).hexdigest()
    return {**chart.metadata, "created": CREATED, "digest": digest, "urls": [chart.file]}
