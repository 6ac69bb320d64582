"""Templates of clusters: what a cluster takes over, and where the author is told what is wrong with it."""

from __future__ import annotations

from tests.unit.texts import explained, fleet, planned, problems


def text(templates: str, clusters: str) -> str:
    """Templates from line 5, then clusters beside a management cluster, then a tenant on all of them."""
    return (
        (
            "apiVersion: tenantry/v1\nenvironments: {dev: {management: hub}, prod: {management: hub-prod}}\n"
            + "templates:\n  clusters:\n"
            + "".join(f"    {line}\n" for line in templates.splitlines())
            + "clusters:\n  hub: {environments: [dev]}\n  hub-prod: {environments: [prod]}\n"
            + "".join(f"  {line}\n" for line in clusters.splitlines())
            + "platform: {chart: {helm: {url: 'https://charts.example.com', version: 0.1.0}}}\n"
            + "tenants:\n  rocky:\n    clusters: {all: true}\n"
            + "    sources: {s: {git: {url: https://git.example.com/x, ref: {branch: main}}}}\n"
            + "    apps: {web: {kustomize: {source: s, path: './{zone}', postBuild: {substitute: {A: '{ring}'}}}}}\n"
        )
        .replace("[dev]}", "[dev], variables: {zone: h, ring: h}}")
        .replace("[prod]}", "[prod], variables: {zone: h, ring: h}}")
    )


EDGE = (
    "edge: {environments: [prod], labels: {tier: edge, a: b}, variables: {zone: z, ring: '1'},"
    " kubeconfig: {kamaji: {controlPlane: '{cluster}', namespace: kamaji}}}"
)


def test_a_cluster_has_what_its_template_says_and_what_differs() -> None:
    clusters = fleet(
        text(
            EDGE,
            "edge-1: {from: edge}\n"
            "edge-2: {from: edge, environments: [prod, dev], labels: {a: null, c: d}, variables: {ring: '2'}, state: paused}",
        )
        .replace("management: hub}", "management: hub, namespace: 'd-{env}-{tenant}'}")
        .replace("hub-prod}", "hub-prod, namespace: '{env}-{tenant}'}", 1)
    ).clusters
    first, second = clusters["edge-1"], clusters["edge-2"]
    assert (first.environments, first.labels, first.variables, first.state) == (
        ["prod"],
        {"tier": "edge", "a": "b"},
        {"zone": "z", "ring": "1"},
        "active",
    )
    assert (second.environments, second.labels, second.variables, second.state) == (
        ["prod", "dev"],
        {"tier": "edge", "c": "d"},
        {"zone": "z", "ring": "2"},
        "paused",
    )
    names = {each.kubeconfig.resolved.name for each in (first, second) if each.kubeconfig}
    assert names == {"edge-1-admin-kubeconfig", "edge-2-admin-kubeconfig"}


def test_a_template_takes_over_what_its_own_template_says() -> None:
    templates = "all: {environments: [prod], variables: {zone: z, ring: '0'},"
    templates += " kubeconfig: {capi: {cluster: '{{x}}-{cluster}', namespace: capi}}}\n"
    templates += "canary: {from: all, variables: {ring: '1'}}"
    cluster = fleet(text(templates.replace("{{x}}", "x"), "edge-1: {from: canary}")).clusters["edge-1"]
    assert cluster.variables == {"zone": "z", "ring": "1"}
    assert cluster.kubeconfig
    assert cluster.kubeconfig.resolved.name == "x-edge-1-kubeconfig"


def test_another_kind_of_kubeconfig_replaces_the_templates() -> None:
    own = "edge-1: {from: edge, kubeconfig: {secret: {name: s, namespace: n, key: k}}}"
    kubeconfig = fleet(text(EDGE, own)).clusters["edge-1"].kubeconfig
    assert kubeconfig
    assert kubeconfig.kamaji is None
    assert kubeconfig.resolved.name == "s"


def test_the_plan_is_that_of_clusters_written_out() -> None:
    alone = "environments: [prod], labels: {tier: edge, a: b}, variables: {zone: z, ring: '1'}"
    written = f"edge-1: {{{alone}, kubeconfig: {{kamaji: {{controlPlane: edge-1, namespace: kamaji}}}}}}"
    assert planned(text(EDGE, "edge-1: {from: edge}"), "prod") == planned(text(EDGE, written), "prod")


def test_a_template_may_pause_its_clusters() -> None:
    paused = EDGE.replace("environments:", "state: paused, environments:")
    assert fleet(text(paused, "edge-1: {from: edge}")).clusters["edge-1"].state == "paused"


def test_many_templates_one_through_the_other_are_refused() -> None:
    templates = "\n".join(f"g{n}: {{from: g{n + 1}}}" for n in range(40)) + "\ng40: {environments: [prod]}"
    said = problems(text(templates, "edge-1: {from: g0}"))
    assert "error[templates-too-many]" in said
    assert said.endswith("Found 1 error\n")


def test_a_value_from_a_template_is_explained_with_its_place() -> None:
    loaded = fleet(text(EDGE, "edge-1: {from: edge}"))
    (placed,) = explained(loaded, "rocky/web", "edge-1", "prod").placed
    assert [
        (each.path, each.origin and each.origin.level, each.origin and each.origin.location.line)
        for each in placed.values
        if each.path[0] == "placeholders"
    ] == [
        (("placeholders", "zone"), "template edge", 5),
        (("placeholders", "ring"), "template edge", 5),
    ]


SEVERAL = (
    "all: {environments: [prod], labels: {tier: edge, law: none}, variables: {zone: z, ring: '0'},"
    " kubeconfig: {capi: {cluster: '{cluster}', namespace: capi}}}\n"
    "eu: {from: all, labels: {law: gdpr}, variables: {ring: eu}}\n"
    "canary: {from: [all], labels: {tier: null}, variables: {ring: canary}}\n"
    "moved: {kubeconfig: {vcluster: {name: '{cluster}', namespace: vc}}}"
)


def test_of_several_templates_later_ones_win_and_each_comes_after_those_that_it_names() -> None:
    clusters = fleet(
        text(
            SEVERAL,
            "a: {from: [eu, canary]}\nb: {from: [canary, eu]}\nc: {from: [eu, all]}\n"
            "d: {from: [eu, moved], labels: {law: own}}",
        )
    ).clusters
    found = {name: (each.labels, each.variables["ring"]) for name, each in clusters.items() if each.from_}
    assert found == {
        "a": ({"law": "gdpr"}, "canary"),
        "b": ({"law": "gdpr"}, "eu"),
        "c": ({"tier": "edge", "law": "gdpr"}, "eu"),
        "d": ({"tier": "edge", "law": "own"}, "eu"),
    }
    kubeconfigs = {name: each.kubeconfig.resolved for name, each in clusters.items() if each.kubeconfig}
    assert {name: each.name for name, each in kubeconfigs.items()} == {
        **{name: f"{name}-kubeconfig" for name in "abc"},
        "d": "vc-d",
    }
