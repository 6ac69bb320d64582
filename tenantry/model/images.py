"""Image automation: which tags of images are followed, and how the newest of them gets into Git.

As for sources, a block's keys are those of Flux's kind; fields here mean more to the fleet or have a default of its own.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tenantry.model.flux import FluxBlock
from tenantry.model.scalars import Duration, ImageName, Name, ShortDuration, SourcePath, Text, refusal
from tenantry.model.strict import Model, exactly_one

_OWN_NAMESPACE = "nothing of a tenant is read from another namespace"


class ImageRepository(FluxBlock):
    """A repository of images, whose tags Flux lists."""

    flux_kind = "ImageRepository"
    owned = {
        "accessFrom": _OWN_NAMESPACE,
        "secretRef": "the fleet sets it from 'credentials' beside the block",
        "serviceAccountName": "Flux would use the rights of any service account beside the clusters' keys",
    }

    image: ImageName
    """`[HOST[:PORT]/]PATH`, without a tag."""
    interval: Duration = "5m"
    """How often to list the tags."""
    timeout: ShortDuration | None = None
    """For how long that may last; as long as `interval` unless set."""


class SemverChoice(Model):
    range: Text
    """A range of versions, such as `1.2.x`; of the tags in it the newest version is chosen."""


class OrderedChoice(Model):
    order: Literal["asc", "desc"] = "asc"
    """`asc`: the highest is chosen; `desc`: the lowest."""


class ImageChoice(Model):
    """Which of the tags is the one to run."""

    semver: SemverChoice | None = None
    """By version; tags that are none are left out."""
    alphabetical: OrderedChoice | None = None
    """By the alphabet, as for tags that are dates."""
    numerical: OrderedChoice | None = None
    """By number, as for tags that count builds; all tags have to be numbers, so `filterTags` goes with it."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "semver", "alphabetical", "numerical")
        return self


class ImagePolicy(FluxBlock):
    """How one of an image's tags is chosen."""

    flux_kind = "ImagePolicy"
    owned = {"imageRepositoryRef": "the fleet sets it to the 'repository' beside the block"}

    policy: ImageChoice
    """Which of the tags is the one to run, of those that `filterTags` leaves."""
    interval: Duration | None = None
    """How often to ask for the digest of the chosen tag; goes with `digestReflectionPolicy: Always`."""


class ImageSource(Model):
    """An image whose tags are followed."""

    repository: ImageRepository
    """Where the image lies."""
    credentials: Name | None = None
    """Which of the declared credentials Flux uses to list the tags."""
    policy: ImagePolicy
    """How one of the tags is chosen."""


class Setters(Model):
    """Where the files lie that are changed."""

    path: SourcePath | None = None
    """The only directory of the source to look for markers in; the whole of it unless set."""
    strategy: Literal["Setters"] = "Setters"
    """How files are changed: Flux knows this one."""


class ImageUpdate(FluxBlock):
    """How Flux writes chosen tags into the source of the app."""

    flux_kind = "ImageUpdateAutomation"
    owned = {
        "policySelector": "the fleet sets it to the images of the app",
        "sourceRef": "the fleet sets it to the source of the app",
    }

    interval: Duration = "10m"
    """How often to compare the source with the chosen tags; a newly chosen tag is written at once."""
    update: Setters = Setters()
    """Which files are changed."""

    @model_validator(mode="after")
    def _says_how_to_commit(self) -> Self:
        """Flux's schema lets `git` be left out, its controller does not."""
        if not self.flux.get("git"):
            raise refusal("missing-key", "key 'git' is missing", fix="add 'git: {commit: {author: {email: ...}}}'")
        return self


class ImageAutomation(Model):
    """The images of an app that Flux keeps up to date; it happens once per environment, not on each cluster."""

    images: Annotated[dict[Name, ImageSource], Field(min_length=1)]
    """Images whose tags are followed."""
    update: ImageUpdate | None = None
    """How chosen tags get into the source of the app, which is a Git repository; without it they are only chosen."""
    environments: Annotated[list[Name], Field(min_length=1)] | None = None
    """The environments where this happens; all unless set."""
