import os
import socket

import pytest

from tenantry_sandbox import process
from tenantry_sandbox.layout import SandboxError


def test_a_port_that_somebody_listens_on_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ("127.0.0.1", "0.0.0.0"):
        with socket.socket() as server:
            server.bind((address, 0))
            server.listen()
            taken = server.getsockname()[1]
            monkeypatch.setattr(process, "FREE", range(taken, taken + 1))

            with pytest.raises(SandboxError, match="no free port"):
                process.allocate(["content"], {})


def test_a_name_keeps_the_port_it_has() -> None:
    assert process.allocate(["etcd"], {"etcd": 20001}) == {"etcd": 20001}


def test_every_name_gets_another_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FREE", range(20100, 20103))
    monkeypatch.setattr(process, "_can_be_listened_on", lambda _: True)
    monkeypatch.setattr(process, "_claim", lambda _: True)

    found = process.allocate(["a", "b"], {"known": 20100})

    assert sorted(found.values()) == [20100, 20101, 20102]


def test_a_port_that_another_process_has_chosen_is_not_chosen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_claims", claims := [])
    chosen = process.allocate(["a"], {})["a"]
    monkeypatch.setattr(process, "FREE", range(chosen, chosen + 1))

    with pytest.raises(SandboxError, match="no free port"):
        process.allocate(["b"], {})

    for each in claims:
        os.close(each)
    assert process.allocate(["b"], {}) == {"b": chosen}


def test_running_out_of_ports_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FREE", range(20100, 20101))

    with pytest.raises(SandboxError, match="no free port between 20100 and 20101"):
        process.allocate(["a"], {"b": 20100})
