"""Reviews of made-up fleets, of any size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenantry.facts.changes import Change, ChangedValue, Effect
from tenantry.facts.dangers import Danger, DangerKind
from tenantry.facts.facts import CLUSTER, Kind, Subject, placed
from tenantry.facts.objects import Status
from tenantry.facts.review import ObjectChange, Review
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import ABSENT

CLUSTERS = tuple(f"{region}-{number}" for region in ("eu", "us", "ap") for number in (1, 2))


def app(tenant: str, name: str = "web") -> Subject:
    return Subject(Kind.APP, tenant, name)


def value(path: str = "helm.version", before: object = "1.2.0", after: object = "1.3.0") -> ChangedValue:
    return ChangedValue(path=tuple(path.split(".")), before=before, after=after)


def change(
    clusters: Mapping[Subject, Sequence[str]],
    *values: ChangedValue,
    effect: Effect = Effect.CHANGED,
    named: bool = True,
) -> Change:
    """Args: named: the subjects are on other clusters, too."""
    return Change(effect=effect, where=placed(clusters, everywhere=not named), values=values)


def danger(clusters: Mapping[Subject, Sequence[str]], text: str, *, named: bool = True) -> Danger:
    where = placed(clusters, everywhere=not named)
    return Danger(kind=DangerKind.RIGHTS, where=where, text=text)


def review(
    changes: Iterable[Change], dangers: Iterable[Danger] = (), name: str = "prod", of: Sequence[str] = CLUSTERS
) -> Review:
    changed = ObjectChange(
        effect=Effect.CHANGED, object=ObjectId("v1", "ConfigMap", "rocky", "unseen"), explained=False
    )
    return Review(
        environment=name,
        status=Status.KEPT,
        dangers=tuple(dangers),
        changes=tuple(changes),
        objects=(changed,),
        clusters=tuple(of),
        of=tuple(of),
    )


def small() -> Review:
    """Two tenants and the platform; nothing changes on ap-2."""
    rocky, five = Subject(Kind.TENANT, "rocky"), CLUSTERS[:5]
    return review(
        [
            change({CLUSTER: ["eu-1"]}, value("flux.version", "2.6.0", "2.7.0")),
            change({app("movy", "worker"): ["eu-1"]}, effect=Effect.REMOVED),
            change({app("rocky"): five}, value(), value("helm.values", "host: a\nport: 1\n", "host: b\nport: 1\n")),
            change({rocky: ["eu-1"]}, value("role", "edit", "cluster-admin")),
            change({app("movy", "queue"): ["us-1", "us-2"]}, value("path", ABSENT, "./queue"), effect=Effect.ADDED),
        ],
        [danger({rocky: ["eu-1"]}, "its apps get cluster-admin instead of edit")],
    )


def large(tenants: int = 200, clusters: int = 500) -> Review:
    """Every tenant has the same change on clusters of its own, and every cluster another one, so that no two columns are equal."""
    names = [f"cluster-{number}" for number in range(clusters)]
    return review(_changes(tenants, names), of=names)


def _changes(tenants: int, clusters: list[str]) -> Iterator[Change]:
    own = {
        app(f"tenant-{row}"): [cluster for at, cluster in enumerate(clusters) if (row * 31 + at * 17) % 7 < 3]
        for row in range(tenants)
    }
    yield change(own, value(), named=False)
    for at, cluster in enumerate(clusters):
        yield change({CLUSTER: [cluster]}, value("maxDeletions", at, at + 1))
