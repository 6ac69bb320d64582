"""No output of `status` shows a credential that a message of Flux quotes."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.cluster.leftovers import stuck
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.cli.test_status import APPS, app, hub
from tests.unit.memory import Memory

__all__ = ["hub"]

SECRET = "hunter-New-9y"
QUOTED = (
    f"failed to checkout: unable to clone 'https://ci:{SECRET}@git.example.com/rocky' and https://x.example.com/?token={SECRET}:"
    f" password: {SECRET}; auth secret: not found; Bearer {SECRET}"
)
SHOWN = "auth secret: not found"
FORMS: dict[str, tuple[str, ...]] = {
    "text": (),
    "json": ("--output", "json"),
    "waiting": ("--wait", "--timeout", "1"),
}


@pytest.fixture
def failing(hub: Memory) -> dict[str, Any]:
    manifest = app()
    message = {"type": "Ready", "status": "False", "reason": "BuildFailed", "message": QUOTED}
    manifest["status"]["conditions"] = [message, {**message, "type": "Stalled", "status": "True"}]
    hub.objects[APPS]["items"] = [manifest]
    hub.objects[f"{APPS.replace('kustomizations', '')}namespaces/rocky/kustomizations/web"] = manifest
    return manifest


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_status_shows_it(capsys: Capture, form: str) -> None:
    code, out, err = tenantry(capsys, "status", "-e", "dev", *FORMS[form])
    assert code == 1
    assert SECRET not in out + err
    assert SHOWN in " ".join(out.split())


def test_the_message_of_a_stuck_deletion_does_not_show_it(failing: dict[str, Any]) -> None:
    failing["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    (message,) = stuck([failing], None)
    assert SHOWN in message
    assert SECRET not in message
