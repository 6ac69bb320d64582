"""The page of a review as a file: complete, inert, the same for the same review, and exact about who changes where."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tenantry.cli.page import as_html
from tenantry.facts.facts import ENVIRONMENT, Kind, Subject
from tenantry.facts.objects import Status
from tenantry.facts.review import Review
from tenantry.messages.errors import Refused
from tests.browser import made
from tests.unit.texts import rocky

Capture = pytest.CaptureFixture[str]
A, B = made.app("a"), made.app("b")


def page(*reviews: Review) -> str:
    return as_html(reviews or (made.small(),), "main", ())


def parts(html: str, tag: str) -> list[str]:
    return re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", html, re.DOTALL)


def text(html: str) -> str:
    return re.sub("<[^>]*>", "", html).strip()


def rows(html: str) -> list[list[str]]:
    """The texts of the matrix, without the row of environments."""
    table = parts(html, "table")[0]
    cells = [re.findall(r"<(?:td|th)(?: [^>]*)?>(.*?)</(?:td|th)>", row) for row in parts(table, "tr")[1:]]
    return [list(map(text, row)) for row in cells]


def test_the_policy_names_the_hashes_of_the_only_script_and_style() -> None:
    html = page()
    (style,), (script,) = parts(html, "style"), parts(html, "script")
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (script, style)]
    assert (
        'content="default-src &#39;none&#39;; script-src &#39;sha256-{}&#39;; style-src &#39;sha256-{}&#39;;'
        ' img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;"'.format(*hashes)
    ) in html


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = page()
    assert re.findall(r"\b(?:src|action|srcset|style)=", html) == []
    links = {each for each in re.findall(r'href="([^"]*)"', html) if not each.startswith("data:image/svg+xml")}
    assert {each for each in links if not re.fullmatch("#[a-z0-9]+", each)} == set()
    assert [each for each in re.findall(r"https?://[^'\"\s)]+", html) if each != "http://www.w3.org/2000/svg"] == []


def test_a_link_leads_to_an_element_of_the_page() -> None:
    html = page()
    ids = re.findall(r'id="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]*)"', html)) <= set(ids)


def test_values_are_escaped_and_control_characters_are_spelled_out() -> None:
    hostile = "</script><script>alert('&lt;')</script>"
    changed = made.review([made.change({made.app(hostile): ["eu-1"]}, made.value("path", "a\x1b[2J\u202e", hostile))])
    html = as_html([changed], f"main{hostile}\x1b", [])
    assert hostile not in html
    assert len(parts(html, "script")) == 1
    assert "path: a\\x1b[2J\\u202e -&gt; &lt;/script&gt;&lt;script&gt;" in html
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", html)


def test_the_same_review_is_the_same_page() -> None:
    assert page() == page()


def test_a_cell_counts_the_lines_of_its_own_clusters_only() -> None:
    changed = made.review([made.change({A: ["eu-1", "eu-2"], B: ["eu-2", "us-1"]}, made.value(), named=False)])
    assert rows(page(changed)) == [["", "eu-1", "eu-2", "us-1"], ["a", "~ 1", "~ 1", ""], ["b", "", "~ 1", "~ 1"]]


def test_the_same_change_of_two_environments_is_in_the_columns_of_both() -> None:
    dev, prod = (
        made.review([made.change(where, made.value(), named=False)], name=name, of=of)
        for name, of, where in (
            ("dev", ["d"], {A: ["d"], B: ["d"]}),
            ("prod", ["p", "q", "r"], {A: ["p"], B: ["q"]}),
        )
    )
    html = page(dev, prod)
    assert rows(html) == [["", "d", "p", "q"], ["a", "~ 1", "~ 1", ""], ["b", "~ 1", "", "~ 1"]]
    assert len(re.findall('class="change"', html)) == 1
    assert list(map(text, re.findall('<th scope="colgroup".*?</th>', html))) == ["dev", "prod and 1 unchanged"]


def test_a_danger_without_a_change_is_a_cell_that_leads_to_the_dangers() -> None:
    gone = replace(made.review([], [made.danger({A: ["eu-1"]}, "it is removed")]), status=Status.REMOVED)
    html = page(gone)
    assert rows(html) == [["", "eu-1"], ["a", "!"]]
    assert '<a href="#dangers" class="danger">!</a>' in html


def test_a_danger_of_no_cluster_leads_to_the_changes_of_its_tenant() -> None:
    tenant = Subject(Kind.TENANT, "a")
    changed = made.review(
        [made.change({B: ["eu-1"]}, made.value()), made.change({A: ["eu-1"]}, made.value())],
        [made.danger({tenant: []}, "more rights"), made.danger({ENVIRONMENT: []}, "no gate")],
    )
    rights, gate = re.findall(r"<li><b>rights</b>.*?</li>", page(changed))
    assert 'href="#c1"' in rights
    assert "href" not in gate


def test_a_change_of_the_environment_alone_is_a_line_and_no_cell() -> None:
    html = page(made.review([made.change({ENVIRONMENT: []}, made.value("after", "dev", "test"))]))
    assert "~ after: dev -&gt; test" in html
    assert parts(html, "table") == []


def test_many_dangers_are_folded_and_counted() -> None:
    html = page(made.review([], [made.danger({A: ["eu-1"]}, f"danger {number}") for number in range(300)]))
    assert "<summary>290 more</summary>" in html
    assert html.count("<li><b>rights</b>") == 300


def test_a_refusal_shows_the_commands_of_its_fix() -> None:
    refused = Refused(
        "it would remove\n    app 'web'", "undo this, and type:\n    tenantry up -e prod\n  or `git revert abc`"
    )
    html = as_html([made.small()], "main", [refused])
    assert "<b>Refused:</b> it would remove</p>" in html
    assert re.findall("<code>(.*?)</code>", html) == ["tenantry up -e prod", "git revert abc"]


def test_without_a_difference_the_page_says_so() -> None:
    equal = replace(made.review([], name="dev"), objects=())
    html = page(equal)
    assert text(parts(html, "h1")[0]) == "No difference against main"
    assert "No difference in dev" in html
    assert (parts(html, "h2"), parts(html, "table")) == ([], [])


def test_the_page_of_a_large_fleet_stays_small() -> None:
    assert len(page(made.large())) < 5_000_000


def test_diff_prints_a_page(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("before.yaml").write_text(rocky("web: {kustomize: {source: manifests}}"))
    Path("tenants.yaml").write_text(rocky("web: {kustomize: {source: manifests, path: ./web}}"))
    assert run(["diff", "before.yaml", "--output", "html"]) == 1
    out, err = capsys.readouterr()
    assert (out.startswith("<!doctype html>\n"), out.endswith("</html>\n"), err) == (True, True, "")
    assert "Changes against before.yaml" in out
    assert rows(out)[1:] == [["rocky", "~ 1"]]
