"""What has to hold after a wave besides readiness."""

from __future__ import annotations

from typing import Any

import httpx2
from tenantry.rollout.checks import failed_checks

from tenantry.rollout.waves import Check
from tests.table import table
from tests.unit.rollout.test_waves import fleet
from tests.unit.texts import planned, problems

PROMETHEUS = "https://prometheus.example.com"
QUERY = Check("errors", PROMETHEUS, "sum(errors)", below=0.5)


def vector(*values: str) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": "vector", "result": [{"value": [1, each]} for each in values]}}


def answered(check: Check, *answers: httpx2.Response | Exception) -> tuple[list[tuple[str, str]], list[str]]:
    """What fails, and what was asked; the last answer comes again and again."""
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        found = answers[min(len(asked), len(answers)) - 1]
        if isinstance(found, Exception):
            raise found
        return found

    return failed_checks([check], httpx2.MockTransport(answer), pause=0), asked


@table(
    "check, answer, problem",
    [
        (QUERY, vector("0.49"), ""),
        (QUERY, vector("0.1", "0.5"), "0.5 is not below 0.5"),
        (QUERY, vector("NaN"), "nan is not below 0.5"),
        (Check("orders", PROMETHEUS, "sum(orders)", above=1), vector("1"), "1 is not above 1"),
        (QUERY, {"data": {"resultType": "scalar", "result": [1, "0.4"]}}, ""),
        (QUERY, vector(), "has no result"),
        (QUERY, {"data": {"resultType": "matrix", "result": []}}, "answers with something else than Prometheus does"),
        (QUERY, ["secret"], "answers with something else than Prometheus does"),
    ],
)
def test_a_query_is_compared_with_its_limit(check: Check, answer: Any, problem: str) -> None:
    failed, asked = answered(check, httpx2.Response(200, json=answer))
    assert failed == ([(check.name, problem)] if problem else [])
    assert asked[0].startswith(f"{PROMETHEUS}/api/v1/query?query=sum")


SMOKE = Check("smoke", "https://shop.example.com/health?token=secret")


@table(
    "answers, problem, times",
    [
        ([httpx2.Response(204)], "", 1),
        ([httpx2.Response(503), httpx2.ConnectError("secret"), httpx2.Response(200)], "", 3),
        ([httpx2.Response(503)], "answers with HTTP 503", 3),
        ([httpx2.Response(302, headers={"location": "https://other.example.com"})], "answers with HTTP 302", 3),
        ([httpx2.ConnectError("secret")], "does not answer (ConnectError)", 3),
    ],
)
def test_an_address_has_to_answer_and_no_message_repeats_it(
    answers: list[httpx2.Response | Exception], problem: str, times: int
) -> None:
    failed, asked = answered(SMOKE, *answers)
    assert (failed, len(asked)) == ([("smoke", problem)] if problem else [], times)
    assert "secret" not in str(failed)


WAVES = "waves: [{labels: {ring: canary}}, {all: true}]"


def test_the_checks_of_a_wave_have_their_placeholders_filled_in() -> None:
    checks = (
        "{errors: {prometheus: {url: http://prometheus.example.com, below: 1, query: 'sum(errors{cluster=~\"{clusters}\"})'}},"
        " smoke: {http: {url: 'https://{cluster}.{env}.example.com'}}, site: {http: {url: 'https://{env}.example.com'}}}"
    )
    (rollout,) = planned(fleet(f"{{{WAVES}, checks: {checks}}}", clusters=2)).rollouts
    prometheus = "http://prometheus.example.com"
    assert [wave.checks for wave in rollout.waves] == [
        (
            Check("errors", prometheus, f'sum(errors{{cluster=~"{names}"}})', below=1),
            *(Check("smoke", f"https://{name}.dev.example.com") for name in names.split("|")),
            Check("site", "https://dev.example.com"),
        )
        for names in ("edge-1", "edge-2|hub")
    ]


@table(
    "check, told",
    [
        ("{http: {url: 'https://me:hunter2@shop.example.com'}}", "error[secret-in-file]"),
        ("{http: {url: 'https://me@shop.example.com'}}", "error[bad-url]"),
        ("{http: {url: 'ssh://shop.example.com'}}", "error[bad-url]"),
        ("{http: {url: shop}}", "error[bad-url]"),
        (
            "{prometheus: {url: 'https://p.example.com', query: up}}",
            "needs either 'below:' or 'above:'; it has neither",
        ),
        ("{prometheus: {url: 'https://p.example.com', query: up, below: 1, above: 0}}", "it has both"),
        ("{}", "needs either 'prometheus:' or 'http:'; it has neither"),
    ],
)
def test_what_is_no_check_is_refused_without_what_it_holds(check: str, told: str) -> None:
    found = problems(fleet(f"{{{WAVES}, checks: {{a: {check}}}}}"))
    assert told in found
    assert "hunter2" not in found
