"""Rollouts: in which order a change reaches the clusters, or the tenants, of an environment."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from tenantry.addresses import BadAddress, read
from tenantry.messages.placeholders import all_names_in, with_stand_ins
from tenantry.messages.redact import shorten
from tenantry.model.durations import Duration
from tenantry.model.scalars import Name, NumberOrShare, Text, number_or_share, refusal
from tenantry.model.selector import Excluded, Selector, WantedLabels, any_of
from tenantry.model.strict import ByShape, Model, OneOf

OFF = (False, "off")
"""What switches a rollout off. Without quotes `off` is refused everywhere: YAML 1.1 reads it as `false`."""


def _a_share(value: int) -> int:
    if 1 <= value <= 100:
        return value
    raise refusal("bad-percent", f"{value} percent is not a share", fix="write a number from 1 to 100")


def _without_sign(value: Any) -> Any:
    """Refuses `25%`, with the number to write instead."""
    if isinstance(value, str) and (number := value.removesuffix("%").strip()).isdecimal():
        raise refusal("bad-percent", f"'{shorten(value)}' is not a whole number", fix=f"write {shorten(number)}")
    return value


Percent = Annotated[
    int,
    BeforeValidator(_without_sign),
    AfterValidator(_a_share),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 100}),
]
"""A whole number from 1 to 100."""


By: TypeAlias = Literal["clusters", "tenants"]
"""What changes together in a wave."""
KEYS_BY: Mapping[By, tuple[str, ...]] = {"clusters": ("names", "labels", "exclude"), "tenants": ("tenants", "class")}
"""The keys of a wave that speak of one of them alone."""


def _without_placeholders(exclude: list[str] | Excluded) -> list[str] | Excluded:
    if isinstance(exclude, Excluded) and (name := next(all_names_in(exclude.labels), None)):
        text = f"placeholder '{{{name}}}' stands in what a wave leaves out, where none is filled in"
        raise refusal("unknown-placeholder", text, fix="write the label's value")
    return exclude


class Approval(Model):
    """Before a wave, somebody approves what would change. An app that changes after that needs another approval."""

    groups: Annotated[list[Text], Field(min_length=1)]
    """The groups of users on the management cluster of which one has to approve, such as `[release]`. The account that runs the
    change does not count."""


def _address(value: str) -> str:
    fix = "write it as 'https://HOST/PATH', without a user and a password"
    try:
        found = read(with_stand_ins(value, "a"))
    except BadAddress as bad:
        raise refusal("bad-url", f"the address {bad}", fix=fix) from None
    if found.scheme not in ("http", "https") or found.user:
        raise refusal("bad-url", "the address is not a plain one of http or https", fix=fix)
    return value


Address = Annotated[str, AfterValidator(_address)]
"""An address of http or https, without a user and a password. It can hold placeholders."""


class PrometheusCheck(OneOf):
    """A query of Prometheus, each of whose results has to be below or above a number. A query without a result fails."""

    one_of = ("below", "above")

    url: Address
    """The address of Prometheus, as the program that runs the change reaches it, such as `http://prometheus.example.com:9090`."""
    query: Text
    """The query. `{clusters}` stands for the clusters of the wave, as `edge-1|edge-2`; other placeholders are as in `http`."""
    below: float | None = None
    """What each result has to be below."""
    above: float | None = None
    """What each result has to be above."""


class HttpCheck(Model):
    url: Address
    """What has to answer with a status of 200 to 299. With a placeholder of clusters, such as `{cluster}` or a variable, it is
    asked for each cluster of the wave."""


class WaveCheck(OneOf):
    """What has to hold after each wave besides readiness. It is asked from where the change is run."""

    one_of = ("prometheus", "http")

    prometheus: PrometheusCheck | None = None
    """A query of Prometheus."""
    http: HttpCheck | None = None
    """An address that answers."""


class Tolerate(Model):
    """How many clusters or tenants of a wave may fail or be unreachable: numbers, or shares such as `20%`, rounded down. One alone
    means each of the two.
    """

    failed: NumberOrShare = 0
    """How many may fail."""
    unreachable: NumberOrShare = 0
    """How many Flux may fail to reach for `unreachableAfter`: nothing that the run changes there is ready, and Flux gets no
    connection. What a cluster refuses, as with an expired certificate, is a failure."""

    @model_validator(mode="before")
    @classmethod
    def _one_for_each(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        limit = number_or_share(value)
        return {"failed": limit, "unreachable": limit}


class RolloutWave(OneOf):
    """Clusters that change together, by name, by labels (all must match), as a share of the rest, or the rest itself; with
    `by: tenants` tenants, by name, by class, as a share, or the rest.
    """

    one_of = ("names", "labels", "tenants", "class", "percent", "all")

    name: Name | None = None
    """What messages call the wave, such as `canary`. Default: `wave 1`, `wave 2`, and so on."""
    names: Annotated[list[str], Field(min_length=1)] | None = None
    """Take these clusters."""
    labels: WantedLabels | None = None
    """Take the clusters that have all of these labels. A list of values means any of them."""
    tenants: Annotated[list[str], Field(min_length=1)] | None = None
    """Take these tenants. Only in a rollout `by: tenants`."""
    class_: Annotated[str | Annotated[list[str], Field(min_length=1)], ByShape()] | None = Field(None, alias="class")
    """Take the tenants that have this class, also through another class, and that no wave names. A list means any of them. Only
    in a rollout `by: tenants`."""
    percent: Percent | None = None
    """Take this share, 1 to 100, of the clusters or tenants that no earlier wave takes and no wave chooses itself, rounded up.
    A hash of the name decides which, so that the others stay in their waves when one is added."""
    all: Literal[True] | None = None
    """`true` takes the clusters or tenants that no earlier wave takes and no wave chooses itself."""
    exclude: Annotated[list[str] | Excluded, ByShape(), AfterValidator(_without_placeholders)] = Field(
        default_factory=list
    )
    """Clusters to leave to other waves: a list of names, or `{labels: {tier: edge}}`."""
    soak: Duration | None = None
    """How long the next wave waits after this one was good, such as `2h`. It counts for each app by itself, from the moment when
    the wave was good with the app's content. A run ends before that, and a later one goes on. Default: the next wave follows at
    once."""
    tolerate: Tolerate | None = None
    """How many clusters or tenants of this wave may fail or be unreachable. Default: what the rollout says."""
    approval: Approval | None = None
    """Who has to approve a change before this wave begins with it, by `tenantry approve`. Default: nobody."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes whose tenants the wave takes, also if it names one alone."""
        return any_of(self.class_ or ())

    @property
    def selector(self) -> Selector:
        """What the wave selects itself; a share, or the rest, selects nothing by itself."""
        return Selector.model_construct(names=self.names, labels=self.labels, exclude=self.exclude)

    @model_validator(mode="before")
    @classmethod
    def _a_word(cls, value: Any) -> Any:
        if value == "all":
            raise refusal("bad-value", "'all' is not a wave", fix="write '{all: true}'")
        return value


class Rollout(OneOf):
    """In which waves a change reaches clusters or tenants. The next wave starts when the apps of the one before are ready."""

    one_of = ("waves", "disabled")

    by: By = "clusters"
    """What the waves take. `tenants`: a tenant changes on all of its clusters at once, and the next wave waits for the tenants of
    this one. For the rollout of an environment, or of an app of a class; that one is one rollout for all tenants of the class."""
    waves: Annotated[list[RolloutWave], Field(min_length=1)] | None = None
    """The waves, in their order. Every cluster, or tenant, must be in exactly one of them."""
    disabled: Literal[True] | None = None
    """No waves. `rollout: false` is the short form."""
    timeout: Duration = "10m"
    """How long the clusters or tenants of a wave may take to become ready."""
    tolerate: Tolerate = Field(default_factory=Tolerate)
    """How many clusters or tenants of each wave may fail or be unreachable without stopping the rollout: a number, a share such as
    `1%`, or `{failed: 1, unreachable: 20%}`."""
    unreachableAfter: Duration = "2m"
    """For how long Flux has to fail to reach a cluster until the cluster counts as unreachable."""
    checks: dict[Name, WaveCheck] = Field(default_factory=dict)
    """What has to hold after each wave, by name. One that does not stops the rollout, as an app does that fails. Included files
    cannot set it."""
    maxParallel: Annotated[int, Field(ge=1)] | None = None
    """How many clusters or tenants of a wave may change at the same time. Default: all of them."""

    @model_validator(mode="before")
    @classmethod
    def _off(cls, value: Any) -> Any:
        if isinstance(value, bool | str) and value in OFF:
            return {"disabled": True}
        if isinstance(value, str | bool):
            text = shorten(value) if isinstance(value, str) else "true"
            fix = "write 'false', or a mapping with 'waves:'"
            raise refusal("bad-value", f"'{text}' is not a rollout", fix=fix)
        if isinstance(value, list):
            raise refusal("bad-value", "a list is not a rollout", fix="put the list below 'waves:'")
        return value
