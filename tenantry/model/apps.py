"""Apps: one Kustomization or HelmRelease on each cluster they are placed on."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tenantry.model.flux import HelmPatch, KustomizePatch, Labelled
from tenantry.model.scalars import AppName, Name, NameTemplate
from tenantry.model.selector import Overridden, Overriding, Selector, override_of
from tenantry.model.sources import Source
from tenantry.model.strict import Keys, OneOf
from tenantry.model.tenancy import OF_TENANTS, AddonAccount, ExtraNamespace
from tenantry.rollout.model import NoWaves

State: TypeAlias = Literal["active", "paused", "removing", "offboarding"]


OF_ADDONS = ("source", "namespace", "namespaces", "account", "keepCRDs", "adopt")
"""Keys of the platform team's apps, which the apps of tenants lack."""


class App(OneOf, Overridden):
    """An app of a tenant, or an add-on, which is an app of the platform team. An add-on has a source of its own, or names one of
    `platform.sources` as a tenant's app does, and runs with the platform's rights.
    """

    one_of = ("kustomize", "helm")
    differs = ("kustomize", "helm", "dependsOn", "metadata", "source")

    clusters: Selector | None = None
    """Where the app runs. Default: the tenant's selector, else the one in `defaults`. An add-on has no default."""
    environments: Annotated[list[Name], Field(min_length=1)] | None = None
    """The environments the app is in, and those that extend them. Replaces the tenant's list; an included file can only name
    environments of the tenant. Default: the tenant's list, else all environments. A cluster in several of an add-on's environments
    has it once, in the first that the cluster names."""
    kustomize: KustomizePatch | None = None
    """Manifests, applied by a Kustomization."""
    helm: HelmPatch | None = None
    """A chart, installed by a HelmRelease."""
    dependsOn: list[AppName] | None = None
    """What must be ready first: other apps of the tenant, or `platform/<add-on>`. Add-ons name add-ons. Flux keeps the order
    between two of one kind, `tenantry up` between a Kustomization and a release; see [Order](apps-and-sources.md#order)."""
    metadata: Labelled | None = None
    """Labels and annotations of the app's Kustomization or HelmRelease. For those of everything it applies, set `commonMetadata`.
    An included file may set keys with granted prefixes."""
    waves: NoWaves = None
    """`false`: the app changes on all clusters at the same time, and not in the waves of its environment. Included files cannot set
    it."""
    overrides: list[Annotated["App", Overriding(), Keys(required=("when",))]] = []
    """What differs in an environment or on a cluster. Those that hold apply in their order, over what is said without."""
    state: State = "active"
    """`paused`: Flux stops reconciling the app. `removing`: a later run may remove the app, even if the environment is protected.
    `offboarding`: the same; of an add-on, its namespaces and CustomResourceDefinitions go too."""

    source: Source | None = None
    """Where an add-on's manifests or chart come from. Without it, `kustomize` or `helm` names one of `platform.sources`."""
    namespace: Name | None = None
    """The namespace of an add-on's Flux objects on a management cluster, and on every cluster the one in which Helm stores its
    release and installs it. No tenant can have it. `tenantry bootstrap` makes it, with the account as which Flux acts
    there. Another namespace is another release. Default: `platform.namespace`."""
    namespaces: dict[NameTemplate, Annotated[ExtraNamespace, Keys(without=OF_TENANTS)]] = {}
    """Namespaces that an add-on owns, by name; placeholders are filled in. They are created before the add-on, removed after it,
    and reserved: no tenant can have one of them."""
    account: AddonAccount | None = None
    """An `existing` account as which Flux applies an add-on. Default: the platform's account, which may do everything."""
    keepCRDs: bool = True
    """Whether the CustomResourceDefinitions that an add-on applied stay when the add-on goes, and with them all objects of their
    kinds. `state: offboarding` takes this away."""
    adopt: bool = False
    """Whether to take over what exists already: the add-on's Kustomization or HelmRelease, its source and chart, and namespaces of
    these names with the objects in them that the add-on has."""

    @property
    def kind(self) -> Literal["kustomize", "helm"]:
        return "kustomize" if self.kustomize is not None else "helm"

    @property
    def selector(self) -> Selector:
        """Where an add-on runs: each has a selector of its own."""
        assert self.clusters is not None
        return self.clusters


AppOverride = override_of(App)
