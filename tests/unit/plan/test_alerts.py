"""Alerts: which Providers and Alerts come of them, what these watch, and what they come before."""

from __future__ import annotations

from tenantry.kube.objects import ObjectId, SecretValues
from tenantry.load import plan_all
from tenantry.plan.plan import Plan
from tests.unit.texts import FRAME, fleet, named, one, planned, rocky

APPS = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: c, version: 1.x}}"
EVERYWHERE = "clusters: {all: true}\ncredentials: {hook: {keys: [address, token]}, ca: {existing: true}}"
CHAT = "chat: {provider: {type: generic, address: 'https://hooks.example.com'}}"
GIT = "provider: {type: gitea, address: 'https://git.example.com/rocky/manifests'}, credentials: hook"
WATCHED = (
    "Kustomization",
    "HelmRelease",
    "GitRepository",
    "OCIRepository",
    "HelmRepository",
    "HelmChart",
    "Bucket",
)


SOURCES = ("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket")


OF_SOURCES = ["Provider kamaji/tenantry-system.chat.c865af11", "Alert kamaji/tenantry-system.chat.c865af11"]
"""The platform's in environment `dev`."""


def alerting(alerts: str, apps: str = APPS, rest: str = EVERYWHERE) -> str:
    """The frame's two clusters with a tenant `rocky` on both that has some alerts."""
    return rocky(apps, f"{rest}\nalerts:\n" + "".join(f"  {line}\n" for line in alerts.splitlines()))


def platform(alerts: str, addons: str = "") -> str:
    """The tenant without alerts, and some of the platform."""
    before = 'platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}'
    text = rocky(APPS, EVERYWHERE)
    assert text.count(before) == 1
    return text.replace(before, f"{before}, addons: {{{addons}}}, alerts: {{{alerts}}}")


def ours(plan: Plan) -> list[str]:
    return [each for each in named(plan) if each.startswith(("Provider", "Alert"))]


def watched(plan: Plan, name: str) -> list[tuple[str, str, dict[str, str]]]:
    sources = one(plan, "Alert", name).manifest["spec"]["eventSources"]
    return [(each["kind"], each["name"], each.get("matchLabels", {})) for each in sources]


def labels(cluster: str) -> dict[str, str]:
    """cluster: "": what clusters share."""
    there = {"tenantry/cluster": cluster} if cluster else {}
    return {"toolkit.fluxcd.io/tenant": "rocky", "tenantry/environment": "dev", **there}


def test_an_alert_becomes_a_provider_and_an_alert_beside_the_apps_of_each_cluster() -> None:
    plan = planned(alerting(CHAT))
    assert ours(plan) == [
        "Provider rocky/chat",
        "Alert rocky/chat",
        "Provider kamaji/edge-rocky-chat",
        "Alert kamaji/edge-rocky-chat",
        "Provider kamaji/rocky.chat.9c76fb7f",
        "Alert kamaji/rocky.chat.9c76fb7f",
    ]
    assert one(plan, "Alert", "edge-rocky-chat").manifest["spec"]["providerRef"] == {"name": "edge-rocky-chat"}


def test_it_watches_everything_of_its_tenant_on_its_cluster_and_nothing_else() -> None:
    plan = planned(alerting(CHAT))
    assert watched(plan, "chat") == [(kind, "*", labels("hub")) for kind in WATCHED]
    assert watched(plan, "edge-rocky-chat") == [(kind, "*", labels("edge")) for kind in WATCHED if kind not in SOURCES]
    assert watched(plan, "rocky.chat.9c76fb7f") == [(kind, "*", labels("")) for kind in SOURCES]
    for id in (each.id for each in plan.objects if each.id.kind in WATCHED and each.owner.tenant):
        found = one(plan, id.kind, id.name).manifest["metadata"]["labels"]
        cluster = "hub" if id.namespace == "rocky" else "" if id.kind in SOURCES else "edge"
        assert labels(cluster).items() <= found.items()
        assert ("tenantry/cluster" in found) is bool(cluster)


def test_a_placeholder_of_the_cluster_gives_an_alert_of_sources_for_each_content() -> None:
    text = alerting(CHAT.replace("}}", "}, eventMetadata: {where: '{cluster}'}}"))
    second = "  edge-2: {environments: [dev], kubeconfig: {kamaji: {controlPlane: two, namespace: kamaji}}}\n"
    alerts = [
        each for each in ours(planned(text.replace("platform:", f"{second}platform:", 1))) if "kamaji/rocky." in each
    ]
    assert len(set(alerts)) == len(alerts) == 4


def test_a_new_app_changes_no_alert() -> None:
    before, after = (
        planned(alerting(CHAT, apps)) for apps in (APPS, f"{APPS}\nx: {{kustomize: {{source: manifests}}}}")
    )
    for name in ("chat", "edge-rocky-chat", "rocky.chat.9c76fb7f"):
        assert one(before, "Alert", name) == one(after, "Alert", name)


def test_apps_are_told_by_their_label_where_they_are_placed() -> None:
    apps = APPS.replace("web: {", "web: {clusters: {names: [hub]}, ")
    plan = planned(alerting(CHAT.replace("}}", "}, apps: [cache, web]}"), apps))
    cache = ("HelmRelease", "*", {**labels("hub"), "tenantry/app": "cache"})
    assert watched(plan, "chat") == [cache, ("Kustomization", "*", {**labels("hub"), "tenantry/app": "web"})]
    assert watched(plan, "edge-rocky-chat") == [("HelmRelease", "*", {**labels("edge"), "tenantry/app": "cache"})]


def test_where_none_of_its_apps_is_placed_there_is_no_alert() -> None:
    apps = APPS.replace("web: {", "web: {clusters: {names: [hub]}, ")
    assert ours(planned(alerting(CHAT.replace("}}", "}, apps: [web]}"), apps))) == [
        "Provider rocky/chat",
        "Alert rocky/chat",
    ]


def test_the_status_of_a_commit_is_told_of_kustomizations_alone() -> None:
    apps = APPS.replace("web: {", "web: {clusters: {names: [hub]}, ")
    plan = planned(alerting(f"all: {{{GIT}}}\nboth: {{{GIT}, apps: [cache, web]}}", apps))
    assert ours(plan) == ["Provider rocky/all", "Alert rocky/all", "Provider rocky/both", "Alert rocky/both"]
    assert watched(plan, "all") == [("Kustomization", "*", labels("hub"))]
    assert watched(plan, "both") == [("Kustomization", "*", {**labels("hub"), "tenantry/app": "web"})]


def test_alerts_come_after_their_secrets_and_before_all_apps() -> None:
    plan = planned(alerting(f"commits: {{{GIT}}}"))
    for home, name, secret in (("rocky", "commits", "hook"), ("kamaji", "edge-rocky-commits", "rocky.hook")):
        held, provider, alert = one(plan, "Secret", secret), one(plan, "Provider", name), one(plan, "Alert", name)
        assert held.secret == SecretValues(("credentials", "rocky", "hook"), ("address", "token"))
        assert provider.manifest["spec"]["secretRef"] == {"name": secret}
        assert held.id in provider.depends_on
        assert alert.depends_on == (provider.id,)
        apps = [
            each
            for each in plan.objects
            if each.id.namespace == home and "tenantry/app" in each.manifest["metadata"]["labels"]
        ]
        assert len(apps) == 2
        assert all(alert.id in each.depends_on for each in apps)
    namespace = ObjectId("v1", "Namespace", "", "rocky")
    assert namespace in one(plan, "Provider", "commits").depends_on


def test_a_provider_names_credentials_that_become_the_names_of_secrets() -> None:
    provider = (
        "{type: generic, address: 'https://x.example.com', certSecretRef: {name: ca}, proxySecretRef: {name: hook}}"
    )
    spec = one(planned(alerting(f"chat: {{provider: {provider}}}")), "Provider", "edge-rocky-chat").manifest["spec"]
    assert (spec["certSecretRef"], spec["proxySecretRef"]) == ({"name": "rocky.ca"}, {"name": "rocky.hook"})


def test_messages_say_whose_the_object_is_and_more_if_the_author_does() -> None:
    written = CHAT.replace("}}", "}, eventMetadata: {where: '{cluster} of {tenant}', team: a}, eventSeverity: error}")
    spec = one(planned(alerting(written)), "Alert", "chat").manifest["spec"]
    assert spec["eventMetadata"] == {
        "environment": "dev",
        "tenant": "rocky",
        "cluster": "hub",
        "team": "a",
        "where": "hub of rocky",
    }
    assert spec["eventSeverity"] == "error"


def test_the_platforms_alert_watches_a_remote_as_a_whole_and_add_ons_on_the_management_cluster() -> None:
    addon = "dns: {clusters: {all: true}, source: {git: {url: 'https://git.example.com/dns', ref: {tag: v1}}}, kustomize: {}}"
    plan = planned(platform(CHAT, addon))
    assert ours(plan) == [
        "Provider tenantry-system/chat",
        "Alert tenantry-system/chat",
        "Provider kamaji/edge-chat",
        "Alert kamaji/edge-chat",
        *OF_SOURCES,
    ]
    own = [kind for kind in WATCHED if kind not in SOURCES]
    assert watched(plan, "edge-chat") == [(kind, "*", {"tenantry/cluster": "edge"}) for kind in own]
    shared = "tenantry-system.chat.c865af11"
    assert watched(plan, shared) == [(kind, "*", {"tenantry/environment": "dev"}) for kind in SOURCES]
    for alert in (one(plan, "Alert", "edge-chat").id, one(plan, "Alert", shared).id):
        assert alert in one(plan, "Kustomization", "edge-dns").depends_on
        assert alert in one(plan, "HelmRelease", "edge-rocky-baseline").depends_on


def test_without_add_ons_the_platform_is_told_of_baselines_on_remotes() -> None:
    assert ours(planned(platform(CHAT))) == ["Provider kamaji/edge-chat", "Alert kamaji/edge-chat", *OF_SOURCES]


def test_the_platform_is_told_of_nothing_where_nothing_is() -> None:
    text = FRAME.replace("platform: {", f"platform: {{alerts: {{{CHAT}}}, ")
    assert ours(planned(text)) == []


def test_the_platforms_commits_are_those_of_add_ons_whatever_tenants_call_their_apps() -> None:
    source = "{git: {url: 'https://git.example.com/x', ref: {tag: v1}}}"
    addons = ", ".join(
        f"{name}: {{clusters: {{all: true}}, source: {source}, kustomize: {{}}}}" for name in ("web", "dns")
    )
    text = platform(
        "commits: {provider: {type: gitlab, address: 'https://git.example.com/x/y'}, credentials: git}", addons
    )
    plan = planned(text.replace("platform: {", "platform: {credentials: {git: {existing: true}}, "))
    assert watched(plan, "edge-commits") == [("Kustomization", "edge-dns", {}), ("Kustomization", "edge-web", {})]


def test_of_environments_that_share_a_cluster_the_first_has_its_alerts_and_each_those_of_its_sources() -> None:
    text = platform(CHAT).replace(
        "dev: {management: hub}", "dev: {management: hub}\n  r1: {extends: dev, namespace: '{env}-{tenant}'}"
    )
    plans = plan_all(fleet(text.replace("[dev]", "[r1, dev]")))
    assert [ours(plans[each]) for each in ("dev", "r1")] == [
        OF_SOURCES,
        [
            "Provider kamaji/edge-chat",
            "Alert kamaji/edge-chat",
            *(each.replace("c865af11", "c5615d7f") for each in OF_SOURCES),
        ],
    ]


def test_every_management_cluster_has_the_platforms_alerts_of_a_cluster_that_both_serve() -> None:
    text = platform(CHAT).replace(
        "dev: {management: hub}", "dev: {management: hub}\n  far: {management: far, namespace: '{env}-{tenant}'}"
    )
    text = text.replace("clusters:\n", "clusters:\n  far: {environments: [far]}\n", 1)
    plans = plan_all(fleet(text.replace("edge: {environments: [dev]", "edge: {environments: [dev, far]")))
    assert all("Alert kamaji/edge-chat" in ours(plans[each]) for each in ("dev", "far"))
