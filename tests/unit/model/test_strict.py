"""What all models promise to the code that reads them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from docgen.document.whole import models
from tenantry.model import App, FluxBlock, Git, Kubeconfig, Platform, Tenant

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


def test_an_app_of_a_tenant_lacks_the_keys_of_add_ons_in_its_overrides_too() -> None:
    overrides = [{"when": {"environments": ["dev"]}, "source": {}}, {"helm": {}}]
    app = {"kustomize": {}, "adopt": True, "waves": 5, "overrides": overrides}
    with pytest.raises(ValidationError) as caught:
        Tenant.model_validate({"apps": {"web": app}})
    assert {(error["type"], error["loc"][2:]) for error in caught.value.errors()} == {
        ("extra_forbidden", ("adopt",)),
        ("extra_forbidden", ("overrides", 0, "source")),
        ("missing", ("overrides", 1, "when")),
        ("bad-value", ("waves",)),
    }


def test_an_add_on_says_where_it_runs() -> None:
    with pytest.raises(ValidationError) as caught:
        Platform.model_validate({"addons": {"dns": {"kustomize": {}, "clusters": None}}})
    assert [(error["type"], error["loc"]) for error in caught.value.errors()] == [
        ("missing", ("addons", "dns", "clusters"))
    ]
