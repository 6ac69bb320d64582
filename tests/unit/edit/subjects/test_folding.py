"""Folding: equal overrides become the app's own, and no cluster gets another value."""

from __future__ import annotations

from pathlib import Path as FilePath

from tenantry.edit.document import Document
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.folding import fold
from tenantry.edit.subjects.promoted import App
from tenantry.messages.errors import Path
from tests.table import table
from tests.unit.texts import fleet

FILE = FilePath("tenants.yaml")
SHOP = App(("tenants", "rocky", "apps", "shop"))


def text(base: str, *overrides: str) -> str:
    """A fleet of dev, stage and prod, which extends base, with an app: its own settings, and the lines of its overrides."""
    lines = "".join(f"          {line}\n" for line in overrides)
    return f"""\
apiVersion: tenantry/v1
environments:
  base: {{management: hub-dev}}
  dev: {{management: hub-dev, namespace: "dev-{{tenant}}"}}
  stage: {{management: hub-dev, namespace: "stage-{{tenant}}"}}
  prod: {{management: hub-prod, extends: base}}
  later: {{management: hub-dev, namespace: "later-{{tenant}}"}}
clusters:
  hub-dev: {{environments: [dev, stage]}}
  hub-prod: {{environments: [prod], labels: {{tier: hub}}}}
tenants:
  rocky:
    clusters: {{all: true}}
    sources: {{charts: {{helm: {{url: https://charts.example.com}}}}}}
    apps:
      shop: # sells
        helm: {{source: charts, chart: shop, {base}}} # ours
{"        overrides:" if lines else ""}
{lines}      cart: {{helm: {{source: charts, chart: cart, version: 1.0.0}}}}
""".replace("\n\n", "\n")


def of(environment: str, settings: str) -> str:
    return f"  {environment}: {{helm: {{{settings}}}}}"


ENVIRONMENTS = "environments:"
OWN, NEW, OTHER = "version: 1.0.0", "version: 2.0.0", "version: 3.0.0"
EDGE = "clusters: {hub-prod: {helm: {version: 3.0.0}}}"
MOVED = "rocky/shop: moved helm.version from the overrides for {} to the app itself"
REMOVED = "rocky/shop: removed helm.version from the overrides for {}, because the app itself says the same"


@table(
    "before, after, told",
    [
        # Nothing has the app's own version any more, so it becomes that of prod.
        (
            (OWN, ENVIRONMENTS, of("dev", NEW), of("stage", NEW), of("prod", NEW)),
            (NEW,),
            [MOVED.format("dev, stage, prod")],
        ),
        (
            (OWN, ENVIRONMENTS, of("dev", OTHER), of("stage", NEW), of("base", NEW)),
            (NEW, ENVIRONMENTS, of("dev", OTHER)),
            [MOVED.format("stage, base")],
        ),
        # Stage has the app's own version, so that stays.
        (
            (OWN, ENVIRONMENTS, of("dev", NEW), of("prod", NEW)),
            (OWN, ENVIRONMENTS, of("dev", NEW), of("prod", NEW)),
            [],
        ),
        (
            (OWN, ENVIRONMENTS, of("dev", NEW), of("prod", OWN)),
            (OWN, ENVIRONMENTS, of("dev", NEW)),
            [REMOVED.format("prod")],
        ),
        # Without it, prod would have the version of what it extends.
        (
            (OWN, ENVIRONMENTS, of("base", NEW), of("prod", OWN)),
            (OWN, ENVIRONMENTS, of("base", NEW), of("prod", OWN)),
            [],
        ),
        # An environment where the app is not placed keeps its override.
        (
            (OWN, ENVIRONMENTS, of("dev", OWN), of("later", OWN)),
            (OWN, ENVIRONMENTS, of("later", OWN)),
            [REMOVED.format("dev")],
        ),
        # Of an override with more settings, the rest stays.
        (
            (OWN, ENVIRONMENTS, of("prod", f"{OWN}, values: {{replicas: 3}}")),
            (OWN, ENVIRONMENTS, of("prod", "values: {replicas: 3}")),
            [REMOVED.format("prod")],
        ),
        # An override for a cluster prevails before and after.
        (
            (OWN, ENVIRONMENTS, of("dev", OWN), EDGE),
            (OWN, EDGE),
            [REMOVED.format("dev")],
        ),
        # What is equal for a program is not equal in the file.
        ((OWN, ENVIRONMENTS, of("prod", 'version: "1.0"')), (OWN, ENVIRONMENTS, of("prod", 'version: "1.0"')), []),
        ((OWN,), (OWN,), []),
    ],
)
def test_what_equal_overrides_become(before: tuple[str, ...], after: tuple[str, ...], told: list[str]) -> None:
    written = text(*before)
    editor = Editor(FILE, {FILE: Document(FILE, written.encode())})
    assert fold(editor, fleet(written), [SHOP], "prod") == told
    assert editor.read(FILE).decode() == text(*after)


SETTINGS = "version: 1.0.0, values: {{replicas: {}, debug: true}}"


def with_values(replicas: int, *overridden: str) -> str:
    return text(SETTINGS.format(replicas), ENVIRONMENTS, *(of(each, *overridden) for each in ("dev", "stage", "prod")))


@table(
    "extra, expected",
    [
        ([], with_values(1, "values: {replicas: 3, debug: true}")),
        ([("helm", "values", "replicas")], with_values(3, "values: {debug: true}")),
        ([("all",)], text(SETTINGS.format(3))),
    ],
)
def test_another_setting_is_folded_only_when_it_is_named(extra: list[Path], expected: str) -> None:
    written = with_values(1, "values: {replicas: 3, debug: true}")
    editor = Editor(FILE, {FILE: Document(FILE, written.encode())})
    fold(editor, fleet(written), [SHOP], "prod", extra)
    assert editor.read(FILE).decode() == expected
