"""What all models promise to the code that reads them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tenantry.fleet.json_schema import models
from tenantry.model import App, FluxBlock, Git, Kubeconfig, Tenant

SECRET = "hunter2-hunter2"


def test_a_model_cannot_be_changed_but_copied() -> None:
    ref = Git.model_validate({"url": "https://a", "ref": {"branch": "main"}, "provider": "azure"})
    with pytest.raises(ValidationError, match="frozen"):
        ref.url = "https://b"  # type: ignore[misc]
    other = ref.model_copy(update={"url": "https://b"})
    assert (ref.url, other.url, other.flux) == (
        "https://a",
        "https://b",
        {"interval": "5m", "timeout": "60s", "provider": "azure"},
    )


def test_equal_models_are_one_key_of_a_cache() -> None:
    given = {"secret": {"name": "a", "namespace": "n", "key": "k"}}
    assert hash(Kubeconfig.model_validate(given)) == hash(Kubeconfig.model_validate(given))


def test_a_default_is_made_anew_for_each_model() -> None:
    assert Tenant().overrides == Tenant().overrides
    assert Tenant().overrides is not Tenant().overrides


def test_no_value_is_converted_and_no_error_repeats_a_value() -> None:
    with pytest.raises(ValidationError) as caught:
        App.model_validate({"state": SECRET, "dependsOn": SECRET, "scope": SECRET})
    assert caught.value.error_count() == 3
    assert SECRET not in str(caught.value)


def test_every_model_is_strict_and_frozen_and_hides_what_it_refuses() -> None:
    for name, model in models().items():
        config = model.model_config
        assert (config["strict"], config["frozen"], config["hide_input_in_errors"]) == (True, True, True), name
        assert config["extra"] == "forbid" or name in FREE_KEYS or issubclass(model, FluxBlock), name


FREE_KEYS = {"ObjectManifest", "PostBuild"}
"""What has keys that Kubernetes or Flux knows."""
