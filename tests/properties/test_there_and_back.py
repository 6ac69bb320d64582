"""An edit and its opposite give back every byte: the golden edits of shipped fleets, and files of all forms."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.golden.test_edits import FLEETS, copied, difference, restore
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.cli.test_edit_files import FILE, FORMS

pytestmark = pytest.mark.usefixtures("plans_once")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("fleet", FLEETS)
def test_golden_edits_go_back_to_every_byte(fleet: str, capsys: Capture) -> None:
    files = copied(fleet)
    for case in FLEETS[fleet]:
        words = shlex.split(case["edit"])
        if run(words) == 0 and words[0] in ("add", "set") and words[-1] != "null" and difference(files):
            assert run(shlex.split(case["back"])) == 0, (case, capsys.readouterr())
            assert not difference(files), case
        restore(files)


THERE_AND_BACK = {
    "add tenant nora clusters.labels.tier=edge quota.pods=40": "remove tenant nora",
    "add app tina/api kustomize.source=jobs kustomize.path=./api": "remove app tina/api",
    "add cluster us-2 environments=prod kubeconfig.capi.cluster=us-2 kubeconfig.capi.namespace=capi": "remove cluster us-2",
    "add source tina/tools git.url=https://git.example.com/tools git.ref.tag=v1": "remove source tina/tools",
    "set tenants.tina.quota.pods 40": "set tenants.tina.quota null",
}


@pytest.mark.parametrize("form", FORMS)
def test_there_and_back_gives_every_byte(form: str, capsys: Capture) -> None:
    for there, back in list(THERE_AND_BACK.items())[:: 1 if form == "LF" else 2]:
        FILE.write_bytes(FORMS[form])
        assert tenantry(capsys, *there.split())[0] == 0
        edited = FILE.read_bytes()
        assert edited != FORMS[form]
        assert (b"\r\n" in edited) == (b"\r\n" in FORMS[form])
        assert not re.search(rb"(?<!\r)\n", edited) or b"\r" not in edited
        assert edited.startswith(b"\xef\xbb\xbf") == form.startswith("BOM")
        assert tenantry(capsys, *back.split())[0] == 0
        assert FILE.read_bytes() == FORMS[form], there
