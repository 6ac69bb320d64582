import os
import socket
from collections.abc import Iterator

import pytest
from tenantry.sandbox import process
from tenantry.sandbox.layout import SandboxError


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_taken_port_is_named_with_its_holder_and_its_purpose(taken: int) -> None:
    with pytest.raises(SandboxError) as refusal:
        process.require([taken], "which the sources of 'dev' name")

    assert refusal.value.message.startswith(
        f"port {taken} on 127.0.0.1, which the sources of 'dev' name, is already in use by "
    )
    assert f"(pid {os.getpid()})" in refusal.value.message
    assert "tenantry sandbox down" in refusal.value.fix


def test_a_port_somebody_holds_on_all_addresses_is_taken_too() -> None:
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
        server.listen()

        with pytest.raises(SandboxError, match="already in use"):
            process.require([server.getsockname()[1]], "which is tested")


def test_a_free_port_passes(taken: int) -> None:
    free = process.allocate(["content"], {}, [taken])["content"]

    process.require([free], "which is tested")


def test_a_name_keeps_the_port_it_has() -> None:
    assert process.allocate(["etcd"], {"etcd": 20001}, []) == {"etcd": 20001}


def test_every_name_gets_another_port_and_none_that_is_to_be_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FREE", range(20100, 20104))
    monkeypatch.setattr(process, "_obstacle", lambda _: None)
    monkeypatch.setattr(process, "_claim", lambda _: True)

    found = process.allocate(["a", "b"], {"known": 20100}, [20101])

    assert sorted(found.values()) == [20100, 20102, 20103]


def test_a_port_that_another_process_has_chosen_is_not_chosen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_claims", claims := [])
    chosen = process.allocate(["a"], {}, [])["a"]
    monkeypatch.setattr(process, "FREE", range(chosen, chosen + 1))

    with pytest.raises(SandboxError, match="no free port"):
        process.allocate(["b"], {}, [])

    for each in claims:
        os.close(each)
    assert process.allocate(["b"], {}, []) == {"b": chosen}


def test_running_out_of_ports_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FREE", range(20100, 20101))

    with pytest.raises(SandboxError, match="no free port between 20100 and 20101"):
        process.allocate(["a"], {}, [20100])
