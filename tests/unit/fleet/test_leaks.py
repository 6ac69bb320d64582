"""Secrets in the file itself."""

from __future__ import annotations

from tests.unit.texts import FRAME, planned, problems, rocky, told

TOKEN = "ghp_" + "a1B2c3D4" * 5


def test_a_secret_in_a_value_is_refused_at_its_place() -> None:
    expected = told(
        "tenants.yaml:8:36: error[secret-in-file]: this looks like a token of GitHub, which anyone who reads the"
        " file or the plan could use",
        "  at tenants.rocky.annotations.a",
        "  fix: remove it, and revoke it; declare 'credentials', whose values are set in the stack's secret config",
        "Found 1 error",
    )
    assert expected == problems(f"{FRAME}tenants: {{rocky: {{annotations: {{a: '{TOKEN}'}}}}}}\n")


def test_a_place_for_passwords_in_a_chart_is_none() -> None:
    values = "{url: 'postgres://app:$(PASSWORD)@db/app', password: '{{ .Values.password }}'}"
    assert planned(rocky(f"web: {{helm: {{source: charts, chart: web, version: 1.0.0, values: {values}}}}}")).objects
