"""A review as Markdown for a pull request."""

from __future__ import annotations

from tenantry.cli.diff.comment import MARKER, as_markdown
from tenantry.cli.diff.values import DisplayLimits
from tenantry.compare.review.model import Effect, Review, Setting
from tests.unit.cli.diff.samples import ADMIN, BUMP, BUMPED, a_tenant, an_app, environment, review


def comment(review: Review, *refusals: str, limits: DisplayLimits | None = None) -> str:
    return as_markdown(review, "main", refusals, limits or DisplayLimits())


def test_the_same_bump_on_hundreds_of_clusters_is_one_line_and_the_clusters_are_folded() -> None:
    shown, folded = comment(BUMPED).split("<details>")
    assert shown == (
        "<!-- tenantry diff -->\n"
        "### Fleet: what changes against `main`\n"
        "\n"
        "#### prod: 1 tenant, 1 app on 479 of 501 clusters\n"
        "\n"
        "- **tenant rocky**: app web on 479 of 501 clusters: `helm.version`: `1.2.0` → `1.3.0`\n"
        "\n"
        "No difference: dev, test\n"
        "\n"
    )
    assert folded.startswith("<summary>prod: tenant rocky</summary>\n\n```diff\n! tenant rocky\n!   app web on edge-0,")
    assert folded.endswith("!     helm.version: 1.2.0 -> 1.3.0\n```\n\n</details>")
    assert max(map(len, folded.splitlines())) < 130


def test_refusals_come_first_then_dangers() -> None:
    shown = comment(review(environment(dangers=(ADMIN,))), "refused because:\n    app 'web'")
    assert shown.startswith(
        f"{MARKER}\n"
        "### Fleet: what changes against `main`\n"
        "\n"
        "> [!CAUTION]\n"
        "> refused because:\n"
        "> app 'web'\n"
        "\n"
        "> [!WARNING]\n"
        "> - **prod**: tenant 'rocky' gives cluster-admin in its namespaces on edge-1 to its apps\n"
    )


def test_what_is_told_at_once_is_not_folded_again() -> None:
    one = an_app(clusters=("edge-1",), of=1, settings=(BUMP,))
    assert "<details>" not in comment(review(environment(a_tenant(one))))


def test_several_changes_are_a_list_below_their_tenant() -> None:
    added = an_app(name="queue", effect=Effect.ADDED, clusters=("edge-1",), of=1)
    removed = an_app(name="db", effect=Effect.REMOVED, clusters=("edge-1",), of=1, sentences=("its data stays",))
    assert (
        "\n- **tenant rocky**\n  - **added:** app queue on edge-1\n  - **removed:** app db on edge-1: its data stays"
        in (comment(review(environment(a_tenant(added, removed)))))
    )


def test_hostile_values_stay_inert() -> None:
    value = "```\n</details><script>alert(1)</script> @team ![x](http://x) | `a`"
    settings = (Setting("helm.values.a", "x", value), Setting("helm.values.b", "x", value.replace("\n", " ")))
    shown, folded = comment(review(environment(a_tenant(an_app(settings=settings))))).split("<details>", 1)
    assert "`helm.values.a`: another text; `helm.values.b`: `x` → ```` ``` </details><script>" in shown
    assert [line for line in folded.splitlines() if line.startswith("```")] == ["```diff", "```"]
