"""How the programs are called, as far as safety hangs on it."""

import re
from pathlib import Path

import pytest
import yaml

from tenantry_sandbox import flux, programs
from tenantry_sandbox.api import Api
from tenantry_sandbox.cluster import Cluster, Etcd
from tenantry_sandbox.flux import Flux
from tenantry_sandbox.layout import Layout
from tenantry_sandbox.supervisor import Part

PROXY = "http://127.0.0.1:20004"
ADDRESS = re.compile(r"--[a-z-]*(a|A)ddr(ess)?=|.*://")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(programs, "command_of", lambda name: (f"/tools/{name}",))
    monkeypatch.setattr(Api, "token", lambda _, account: f"of {account.full_name}")
    layout = Layout(tmp_path)
    return Cluster("hub-dev", layout, 20002, 20003, Etcd(layout, 20000, 20001, 20004))


@pytest.fixture
def controllers(cluster: Cluster) -> dict[str, Part]:
    return controllers_of(cluster)


def controllers_of(cluster: Cluster, *shards: str) -> dict[str, Part]:
    ports = {name: 20010 + number for number, name in enumerate(flux.ports_of(shards))}
    return {part.name: part for part in Flux(cluster, ports, PROXY, shards).parts()}


def every_part(cluster: Cluster, controllers: dict[str, Part]) -> list[Part]:
    own = (cluster.apiserver(), cluster.controller_manager(), cluster.scheduler(), cluster.nodes())
    return [cluster.etcd.part(), *own, *controllers.values()]


def test_every_address_is_on_loopback(cluster: Cluster, controllers: dict[str, Part]) -> None:
    flags = [flag for part in every_part(cluster, controllers) for flag in part.argv if ADDRESS.match(flag)]

    elsewhere = [flag for flag in flags if "127.0.0.1" not in flag]
    assert sorted(set(elsewhere)) == [
        "--metrics-addr=0",
        "--service-account-issuer=https://kubernetes.default.svc",
    ]


def test_all_tell_their_events_to_the_controller_that_sends_alerts(controllers: dict[str, Part]) -> None:
    notification = controllers["notification-controller"]
    told = {name: [flag for flag in part.argv if "events-addr" in flag] for name, part in controllers.items()}

    assert told.pop("notification-controller") == [f"--events-addr=127.0.0.1:{notification.ports[1]}"]
    assert list(told.values()) == [[f"--events-addr=http://127.0.0.1:{notification.ports[1]}/"]] * 3


def test_alerts_are_about_what_lies_beside_them(controllers: dict[str, Part]) -> None:
    assert "--no-cross-namespace-refs=true" in controllers["notification-controller"].argv


def test_the_controllers_that_apply_lock_tenants_in(controllers: dict[str, Part]) -> None:
    lockdown = {"--no-cross-namespace-refs=true", "--default-service-account=default"}

    assert lockdown <= set(controllers["helm-controller"].argv)
    assert lockdown | {"--no-remote-bases=true"} <= set(controllers["kustomize-controller"].argv)


def test_each_controller_acts_under_its_own_service_account(controllers: dict[str, Part]) -> None:
    for name, part in controllers.items():
        document = yaml.safe_load(Path(part.environment["KUBECONFIG"]).read_text())
        assert document["users"] == [{"name": name, "user": {"token": f"of flux-system/{name}"}}]


def test_only_controllers_that_fetch_sources_and_bases_go_through_the_content_server(
    controllers: dict[str, Part],
) -> None:
    proxies = {name: part.environment.get("HTTP_PROXY") for name, part in controllers.items()}

    assert proxies.pop("source-controller") == proxies.pop("kustomize-controller") == PROXY
    assert set(proxies.values()) == {None}
    assert controllers["kustomize-controller"].environment["http_proxy"] == PROXY


def test_each_shard_has_controllers_of_its_own_and_the_others_leave_its_objects_to_them(cluster: Cluster) -> None:
    parts = controllers_of(cluster, "a", "b")

    selectors = {
        name: [flag.partition("=")[2] for flag in part.argv if flag.startswith("--watch-label-selector=")]
        for name, part in parts.items()
    }
    sharded = ("source-controller", "kustomize-controller", "helm-controller")
    assert selectors == {
        "notification-controller": [],
        **{name: ["!sharding.fluxcd.io/key"] for name in sharded},
        **{f"{name}-{shard}": [f"sharding.fluxcd.io/key={shard}"] for shard in "ab" for name in sharded},
    }
    ports = [port for part in parts.values() for port in part.ports]
    assert len(set(ports)) == len(ports)
    document = yaml.safe_load(Path(parts["helm-controller-b"].environment["KUBECONFIG"]).read_text())
    assert document["users"][0]["name"] == "helm-controller"


def test_each_part_has_a_directory_for_temporary_files_of_its_own(
    cluster: Cluster, controllers: dict[str, Part]
) -> None:
    directories = [part.environment["TMPDIR"] for part in every_part(cluster, controllers)]

    assert len(set(directories)) == len(directories)
    assert all(Path(directory).is_dir() for directory in directories)


def test_nothing_of_the_users_shell_reaches_a_part_but_how_to_reach_the_network_and_its_limit_of_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/config")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com")
    monkeypatch.setenv("GOMEMLIMIT", "1GiB")

    variables = programs.environment(tmp_path)

    assert "AWS_SECRET_ACCESS_KEY" not in variables
    assert "KUBECONFIG" not in variables
    assert variables["HTTPS_PROXY"] == "http://proxy.example.com"
    assert variables["GOMEMLIMIT"] == "1GiB"


def test_a_part_is_described_alike_each_time_so_that_it_is_left_alone(cluster: Cluster) -> None:
    assert cluster.apiserver() == cluster.apiserver()
    assert cluster.nodes() == cluster.nodes()


def test_flags_are_written_as_programs_read_them(cluster: Cluster) -> None:
    flags = cluster.controller_manager().argv
    assert "--leader-elect=false" in flags
    (controllers,) = (flag for flag in flags if flag.startswith("--controllers="))
    assert "deployment-controller,disruption-controller," in controllers
