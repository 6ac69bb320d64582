"""Several files become one fleet, and every place is named in the file where it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.text import format_invalid
from tests.unit.texts import FRAME, told

APP = """\
tenants:
  {0}:
    clusters: {{labels: {{tier: hub}}}}
    sources:
      s: {{git: {{url: https://git.example.com/x, ref: {{branch: main}}}}}}
    apps:
      web: {{kustomize: {{source: s, path: {1}}}}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


GRANTED = "defaults: {clusters: {labels: {tier: hub}}, grants: {sources: ['*']}}\n"


def main(patterns: str, *tenants: str) -> str:
    """The frame with an `include:` behind it in line 8, and with frames of tenants."""
    frames = "tenants:\n" + "".join(f"  {tenant}: {{}}\n" for tenant in tenants) if tenants else ""
    return FRAME + f"include: {patterns}\n" + GRANTED + frames


def problems(file: str = "tenants.yaml") -> str:
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load_fleet(Path(file)))
    return format_invalid(caught.value) + "\n"


def test_tenants_come_in_the_order_of_the_main_file_then_of_pieces_by_their_names() -> None:
    write(
        {
            "tenants.yaml": main("[{files: 'z/*.yaml'}, '[ab].yaml']", "b", "main", "a"),
            "b.yaml": APP.format("b", "./"),
            "a.yaml": APP.format("a", "./"),
            "z/2.yaml": APP.format("two", "./"),
            "z/1.yaml": APP.format("one", "./"),
        }
    )
    assert ["b", "main", "a", "one", "two"] == list(load_fleet(Path("tenants.yaml")).document.tenants)


def test_a_file_that_several_patterns_take_is_read_once() -> None:
    write(
        {
            "tenants.yaml": main("[t/*.yaml, t/rocky.yaml, './t/rocky.yaml']", "rocky"),
            "t/rocky.yaml": APP.format("rocky", "./"),
        }
    )
    assert ["web"] == list(load_fleet(Path("tenants.yaml")).document.tenants["rocky"].apps)


def test_patterns_start_at_the_including_file_wherever_the_command_runs() -> None:
    write({"fleets/tenants.yaml": main("[t/*.yaml]", "rocky"), "fleets/t/rocky.yaml": APP.format("rocky", "'{nope}'")})
    assert problems("fleets/tenants.yaml").startswith("fleets/t/rocky.yaml:7:42: error[unknown-placeholder]")


def test_a_broken_file_hides_no_mistake_of_the_others() -> None:
    write(
        {
            "tenants.yaml": main("[t/*.yaml]", "b") + "platforms: {}\n",
            "t/a.yaml": "tenants: [",
            "t/b.yaml": APP.format("b", "/"),
        }
    )
    codes = [line.split("]")[0] for line in problems().splitlines() if not line.startswith(" ")]
    expected = [
        "t/a.yaml:1:11: error[syntax",
        "t/b.yaml:7:42: error[bad-path",
        "tenants.yaml:12:1: error[unknown-key",
        "Found 3 errors",
    ]
    assert expected == codes


def test_a_link_inside_the_directory_is_followed_and_speaks_of_the_tenant_that_the_link_is_named_after() -> None:
    write({"tenants.yaml": main("[t/*.yaml]", "rocky"), "teams/a.yaml": APP.format("rocky", "./")})
    Path("t").mkdir()
    Path("t/rocky.yaml").symlink_to("../teams/a.yaml")
    fleet = load_fleet(Path("tenants.yaml"))
    assert "t/rocky.yaml:7:7" == fleet.source.line_of(("tenants", "rocky", "apps", "web"))
    assert "tenants.yaml:11:3" == fleet.source.line_of(("tenants", "rocky"))


def test_a_pattern_with_a_character_that_no_file_name_holds_is_refused() -> None:
    write({"tenants.yaml": main('["a\\0b"]')})
    assert problems().startswith("tenants.yaml:8:11: error[bad-include]: ")


def test_a_missing_main_file_is_refused_as_ever() -> None:
    with pytest.raises(Refused, match=r"^gone\.yaml: no such file"):
        load_fleet(Path("gone.yaml"))


def test_a_pattern_that_would_look_at_files_without_end_is_refused() -> None:
    write({"tenants.yaml": main(f"[{{files: '{'*/' * 40}x'}}]", "rocky")})
    Path("a").symlink_to(".")
    expected = told(
        f"tenants.yaml:8:19: error[bad-include]: '{'*/' * 40}...' searches too many files or directories",
        "  at include[0].files",
        "  fix: narrow the pattern",
        "Found 1 error",
    )
    assert expected == problems()


# --- pieces of the file ------------------------------------------------------------------------------------------

CLUSTER = "clusters:\n  {0}: {{environments: [dev], kubeconfig: {{capi: {{cluster: {0}, namespace: capi}}}}}}\n"


def pieces(entries: str = "[{files: 'c/*.yaml'}]") -> str:
    return FRAME + f"include: {entries}\n" + GRANTED


def test_pieces_add_to_the_clusters_of_the_main_file() -> None:
    write({"tenants.yaml": pieces(), "c/b.yaml": CLUSTER.format("far"), "c/a.yaml": CLUSTER.format("near")})
    assert list(load_fleet(Path("tenants.yaml")).clusters) == ["hub", "edge", "near", "far"]


def test_all_clusters_tenants_and_templates_may_stand_in_pieces() -> None:
    text = (
        "apiVersion: tenantry/v1\nenvironments: {dev: {management: hub}}\ninclude: [{files: '[ct].yaml'}, rocky.yaml]\n"
    )
    platform = "platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}\n"
    remote = "{environments: [dev], kubeconfig: {capi: {cluster: '{cluster}', namespace: capi}}}"
    hub = "{environments: [dev], labels: {tier: hub}}"
    granted = "{quota: {pods: 10}, clusters: {names: [hub, edge]}, grants: {sources: ['*']}}"
    write(
        {
            "tenants.yaml": text + platform,
            "c.yaml": f"templates: {{clusters: {{far: {remote}}}}}\nclusters: {{hub: {hub}, edge: {{from: far}}}}\n",
            "t.yaml": f"templates: {{tenants: {{small: {granted}}}}}\ntenants:\n  rocky: {{from: small}}\n",
            "rocky.yaml": APP.format("rocky", "./"),
        }
    )
    fleet = load_fleet(Path("tenants.yaml"))
    edge, rocky = fleet.clusters["edge"], fleet.document.tenants["rocky"]
    assert edge.kubeconfig
    assert edge.kubeconfig.resolved.name == "edge-kubeconfig"
    assert (rocky.quota, list(rocky.apps)) == ({"pods": "10"}, ["web"])
    assert fleet.source.line_of(("tenants", "rocky")) == "t.yaml:3:3"
    assert fleet.source.line_of(("tenants", "rocky", "quota", "pods")).startswith("t.yaml:1:")
    assert fleet.source.line_of(("tenants", "rocky", "apps", "web")) == "rocky.yaml:7:7"
    assert fleet.source.line_of(("tenants", "rocky", "grants", "clusters")).startswith("t.yaml:1:")


def test_pieces_append_overrides_in_the_order_of_include_to_what_any_file_declares() -> None:
    override = "{{overrides: [{{when: {{environments: [dev]}}, quota: {{pods: {}}}}}]}}"
    write(
        {
            "tenants.yaml": main("[{files: 'o/*.yaml'}, {files: 'c/*.yaml'}]", "rocky"),
            "o/a.yaml": f"tenants: {{acme: {override.format(2)}, rocky: {override.format(3)}}}\n",
            "c/b.yaml": f"tenants: {{rocky: {override.format(4)}, acme: {{labels: {{a: b}}, {override.format(1)[1:]}}}\n",
        }
    )
    fleet = load_fleet(Path("tenants.yaml"))
    quotas = {name: [each.quota for each in tenant.overrides] for name, tenant in fleet.document.tenants.items()}
    assert quotas["acme"] == [{"pods": "1"}, {"pods": "2"}]
    assert quotas["rocky"] == [{"pods": "3"}, {"pods": "4"}]
    assert fleet.source.line_of(("tenants", "acme", "overrides", 1, "quota", "pods")).startswith("o/a.yaml:1:")
    assert fleet.source.line_of(("tenants", "rocky", "overrides", 1, "quota", "pods")).startswith("c/b.yaml:1:")


def test_what_a_piece_declares_that_cannot_be_read_is_not_told_to_be_unknown() -> None:
    text = (
        FRAME.replace("management: hub", "management: far").replace("clusters:\n", "clusters: {}\nx:\n").split("x:")[0]
    )
    write(
        {
            "tenants.yaml": text + "include: [{files: c.yaml}]\n" + "tenants: {a: {from: small}}\n",
            "c.yaml": "clusters: [",
        }
    )
    said = problems()
    assert said.startswith("c.yaml:1:12: error[syntax]")
    assert said.endswith("Found 1 error\n")


def test_a_link_that_leaves_the_directory_is_no_piece(tmp_path: Path) -> None:
    outside = tmp_path.with_suffix(".d")
    outside.mkdir()
    (outside / "x.yaml").write_text(CLUSTER.format("far"))
    write({"tenants.yaml": pieces()})
    Path("c").mkdir()
    Path("c/x.yaml").symlink_to(outside / "x.yaml")
    assert "error[bad-include]: 'c/x.yaml' is a symlink that leads out of the directory" in problems()
