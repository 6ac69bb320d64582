"""What the tests of isolation share."""

from __future__ import annotations

from tests.faults.api import Answer, Api
from tests.faults.arena import TENANT, Place
from tests.faults.forgeries import collection


def denied(answer: Answer, refusal: str) -> None:
    """By a policy, and for the reason that is meant."""
    assert answer.status == 422, answer.message
    assert "ValidatingAdmissionPolicy" in answer.message
    assert refusal in answer.message


def ready(hub: Api, path: str) -> bool:
    conditions = hub.ask("GET", path).body.get("status", {}).get("conditions", [])
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def source_in(hub: Api, place: Place) -> str:
    """The name of the attacker's source for a cluster; clusters share those beside kubeconfigs, whose names end with digits."""
    found = hub.ask("GET", collection("GitRepository", place.home)).body["items"]
    names = [each["metadata"]["name"] for each in found]
    [name] = (each for each in names if each == "manifests" or each.startswith(f"{TENANT}.manifests."))
    return str(name)
