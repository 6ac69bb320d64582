"""The page as a file: complete, inert, and the same for the same content."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tenantry.cli.page.document import as_html
from tests.browser import made
from tests.unit.texts import rocky

Capture = pytest.CaptureFixture[str]
HOSTILE = "</script><script>alert('&lt;')</script><!--"


def parts(html: str, tag: str) -> list[str]:
    return re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", html, re.DOTALL)


def test_the_policy_names_the_hashes_of_the_only_script_and_style() -> None:
    html = as_html(made.page(made.small()))
    ((style,), (_, script)) = parts(html, "style"), parts(html, "script")
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (script, style)]
    assert (
        'content="default-src &#39;none&#39;; script-src &#39;sha256-{}&#39;; style-src &#39;sha256-{}&#39;;'
        ' img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;"'.format(*hashes)
    ) in html


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = as_html(made.page(made.small()))
    assert re.findall(r"\b(?:src|action|srcset)=", html) == []
    assert {each for each in re.findall(r'href="([^"]*)"', html) if not each.startswith("data:image/svg+xml")} == {
        "#alert=0"
    }
    assert [each for each in re.findall(r"https?://[^'\"\s)]+", html) if each != "http://www.w3.org/2000/svg"] == []


def test_data_cannot_end_its_element() -> None:
    small = made.small()
    shown = replace(small, rows=tuple(each._replace(name=HOSTILE) for each in small.rows))
    html = as_html(made.page(shown, HOSTILE))
    data, _ = parts(html, "script")
    assert json.loads(data)["rows"][0]["n"] == HOSTILE
    assert HOSTILE not in html
    assert "&lt;/script&gt;&lt;script&gt;" in html


def test_the_same_content_is_the_same_page() -> None:
    assert as_html(made.page(made.small())) == as_html(made.page(made.small()))


def test_a_large_fleet_is_a_small_file() -> None:
    assert len(as_html(made.page(made.large()))) < 2_000_000


def test_many_alerts_are_folded_and_counted() -> None:
    small = made.small()
    html = as_html(made.page(replace(small, alerts=small.alerts * 300)))
    assert html.count('class="alert"') == 200
    assert "<summary>292 more</summary>" in html
    assert "and 100 more, on the map" in html


def test_diff_prints_a_page(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("before.yaml").write_text(rocky("web: {kustomize: {source: manifests}}"))
    Path("tenants.yaml").write_text(rocky("web: {kustomize: {source: manifests, path: ./web}}"))
    assert run(["diff", "before.yaml", "--output", "html"]) == 1
    out, err = capsys.readouterr()
    assert (out.startswith("<!doctype html>\n"), out.endswith("</html>\n"), err) == (True, True, "")
    assert "compared with before.yaml" in out
