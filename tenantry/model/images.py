"""Image automation: which tags of images are followed, and how the newest of them gets into Git.

As for sources, a block's keys are those of Flux's kind; fields here mean more to the fleet or have a default of its own.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tenantry.model.durations import Duration, ShortDuration
from tenantry.model.flux import FluxBlock
from tenantry.model.scalars import CredentialsName, ImageName, Name, SourcePath, Text, refusal
from tenantry.model.strict import Fillable, Model, OneOf

_OWN_NAMESPACE = "nothing of a tenant is read from another namespace"


class ImageRepository(FluxBlock):
    """An image repository whose tags Flux lists."""

    flux_kind = "ImageRepository"
    owned = {
        "accessFrom": _OWN_NAMESPACE,
        "secretRef": "the fleet sets it from 'credentials' beside the block",
        "serviceAccountName": "Flux would use the rights of any service account beside the clusters' keys",
    }

    image: ImageName
    """`[HOST[:PORT]/]PATH`, without a tag."""
    interval: Fillable[Duration] = "5m"
    """How often to list the tags."""
    timeout: Fillable[ShortDuration] | None = None
    """How long listing the tags may take. Default: `interval`."""


class SemverChoice(Model):
    range: Text
    """A range of versions, such as `1.2.x`. The newest version in the range is chosen."""


class OrderedChoice(Model):
    order: Fillable[Literal["asc", "desc"]] = "asc"
    """`asc` chooses the highest, `desc` the lowest."""


class ImageChoice(OneOf):
    """Which tag is chosen."""

    one_of = ("semver", "alphabetical", "numerical")

    semver: SemverChoice | None = None
    """By version. Tags that are not versions are ignored."""
    alphabetical: OrderedChoice | None = None
    """In alphabetical order, for example for tags that are dates."""
    numerical: OrderedChoice | None = None
    """In numerical order, for example for build numbers. All tags must be numbers, so use `filterTags` too."""


class ImagePolicy(FluxBlock):
    """How a tag of an image is chosen."""

    flux_kind = "ImagePolicy"
    owned = {"imageRepositoryRef": "the fleet sets it to the 'repository' beside the block"}

    policy: ImageChoice
    """Which tag is chosen, among those that `filterTags` leaves."""
    interval: Fillable[Duration] | None = None
    """How often to look up the digest of the chosen tag. Requires `digestReflectionPolicy: Always`."""


class ImageSource(Model):
    """An image whose tags are followed."""

    repository: ImageRepository
    """The image repository."""
    credentials: CredentialsName | None = None
    """The declared credentials that Flux uses to list the tags."""
    policy: ImagePolicy
    """How a tag is chosen."""


class Setters(Model):
    """Which files Flux changes."""

    path: SourcePath | None = None
    """The directory of the source to search for markers. Default: the whole source."""
    strategy: Literal["Setters"] = "Setters"
    """How files are changed. Flux has only this strategy."""


class ImageUpdate(FluxBlock):
    """How Flux writes chosen tags to the app's source."""

    flux_kind = "ImageUpdateAutomation"
    owned = {
        "policySelector": "the fleet sets it to the images of the app",
        "sourceRef": "the fleet sets it to the source of the app",
    }

    interval: Fillable[Duration] = "10m"
    """How often to compare the source with the chosen tags. A newly chosen tag is written at once."""
    update: Setters = Field(default_factory=Setters)
    """Which files are changed."""

    @model_validator(mode="after")
    def _says_how_to_commit(self) -> Self:
        """Flux's schema lets `git` be left out, its controller does not."""
        if not self.flux.get("git"):
            raise refusal("missing-key", "key 'git' is missing", fix="add 'git: {commit: {author: {email: ...}}}'")
        return self


class ImageAutomation(Model):
    """The images that Flux keeps up to date for an app. This happens once per environment, not on each cluster."""

    images: Annotated[dict[Name, ImageSource], Field(min_length=1)]
    """Images whose tags are followed."""
    update: ImageUpdate | None = None
    """How chosen tags are written to the app's source, which must be a Git repository. Without it, tags are only chosen."""
    environments: Annotated[list[Name], Field(min_length=1)] | None = None
    """The environments where this happens. Default: all."""
