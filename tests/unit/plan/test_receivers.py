"""Receivers: which objects they become, what these fetch, and what they come after."""

from __future__ import annotations

from tenantry.kube.objects import ObjectId, SecretValues
from tenantry.plan.plan import Plan
from tests.unit.texts import named, one, planned, rocky

APPS = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: c, version: 1.x}}"
EVERYWHERE = "clusters: {all: true}\ncredentials: {hook: {keys: [token]}}"
PUSH = "push: {type: github, credentials: hook}"


def receiving(receivers: str, apps: str = APPS, rest: str = EVERYWHERE) -> str:
    """The frame's two clusters with a tenant `rocky` on both that has some receivers."""
    return rocky(apps, f"{rest}\nreceivers:\n" + "".join(f"  {line}\n" for line in receivers.splitlines()))


def ours(plan: Plan) -> list[str]:
    return [each for each in named(plan) if each.startswith("Receiver")]


def fetched(plan: Plan, name: str) -> list[str]:
    resources = one(plan, "Receiver", name).manifest["spec"]["resources"]
    assert all(set(each) == {"kind", "name"} for each in resources)
    return [f"{each['kind']} {each['name']}" for each in resources]


def test_a_receiver_is_beside_the_sources_of_each_cluster() -> None:
    plan = planned(receiving(PUSH))
    assert ours(plan) == ["Receiver rocky/push", "Receiver kamaji/edge-rocky-push"]
    assert fetched(plan, "push") == ["HelmRepository charts", "GitRepository manifests"]
    assert fetched(plan, "edge-rocky-push") == [
        "HelmRepository rocky.charts.e5533713",
        "GitRepository rocky.manifests.62305212",
    ]


def test_it_comes_after_its_sources_and_its_secret() -> None:
    plan = planned(receiving(PUSH))
    shared = (("GitRepository", "rocky.manifests.62305212"), ("HelmRepository", "rocky.charts.e5533713"))
    for name, secret, taken in (("push", "hook", SOURCES), ("edge-rocky-push", "rocky.hook", shared)):
        made, held = one(plan, "Receiver", name), one(plan, "Secret", secret)
        assert held.secret == SecretValues(("credentials", "rocky", "hook"), ("token",))
        assert made.manifest["spec"]["secretRef"] == {"name": secret}
        sources = [one(plan, kind, source) for kind, source in taken]
        assert {held.id, *(each.id for each in sources)} <= set(made.depends_on)
    assert ObjectId("v1", "Namespace", "", "rocky") in one(plan, "Receiver", "push").depends_on


SOURCES = (("GitRepository", "manifests"), ("HelmRepository", "charts"))


def test_sources_that_no_app_on_the_cluster_takes_are_not_fetched_there() -> None:
    apps = APPS.replace("web: {", "web: {clusters: {names: [hub]}, ")
    plan = planned(receiving(f"{PUSH}\ngit: {{type: gitlab, credentials: hook, sources: [manifests]}}", apps))
    assert ours(plan) == ["Receiver rocky/push", "Receiver rocky/git", "Receiver kamaji/edge-rocky-push"]
    assert fetched(plan, "edge-rocky-push") == ["HelmRepository rocky.charts.e5533713"]


def test_sources_that_others_include_are_fetched_too() -> None:
    text = receiving(PUSH).replace(
        "ref: {branch: main}}}", "ref: {branch: main}, include: [{repository: {name: shared}}]}}", 1
    )
    text = text.replace(
        "sources:\n", "sources:\n      shared: {git: {url: https://git.example.com/s, ref: {tag: v1}}}\n"
    )
    assert fetched(planned(text), "push") == [
        "HelmRepository charts",
        "GitRepository manifests",
        "GitRepository shared",
    ]


def test_charts_of_an_oci_registry_are_fetched_themselves() -> None:
    text = receiving(PUSH).replace("{url: https://charts.example.com}", "{url: oci://charts.example.com, type: oci}")
    chart, git = fetched(planned(text), "push")
    assert chart.startswith("HelmChart charts-c-")
    assert git == "GitRepository manifests"


def test_flux_s_own_keys_arrive_with_placeholders_filled_in() -> None:
    written = (
        "push: {type: '{kind}', credentials: hook, events: [Push Hook], interval: 1h,"
        " resourceFilter: 'req.body.env == \"{env}\"'}"
    )
    text = receiving(written).replace("dev: {management: hub}", "dev: {management: hub, variables: {kind: gitlab}}")
    spec = one(planned(text), "Receiver", "edge-rocky-push").manifest["spec"]
    assert (spec["type"], spec["events"], spec["interval"]) == ("gitlab", ["Push Hook"], "1h")
    assert spec["resourceFilter"] == 'req.body.env == "dev"'
