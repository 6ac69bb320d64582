from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import NameOID

from tenantry_sandbox.certificates import Authority, KeyPair


def certificate(pair: KeyPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate.read_bytes())


def test_a_server_is_known_by_its_addresses_and_names(tmp_path: Path) -> None:
    issued = certificate(Authority(tmp_path).server("apiserver", ("127.0.0.1", "localhost")))

    names = issued.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]


def test_a_client_is_a_user_in_a_group_and_comes_from_the_authority(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    issued = certificate(authority.client("admin", "kubernetes-admin", "system:masters"))

    issued.verify_directly_issued_by(certificate(authority.pair))
    names = {each.oid: each.value for each in issued.subject}
    assert names[NameOID.ORGANIZATION_NAME] == "system:masters"
    assert names[NameOID.COMMON_NAME] == "kubernetes-admin"


def test_a_client_of_no_group_is_in_that_of_everybody(tmp_path: Path) -> None:
    issued = certificate(Authority(tmp_path).client("nora", "nora"))

    groups = [each.value for each in issued.subject if each.oid == NameOID.ORGANIZATION_NAME]
    assert groups == ["system:authenticated"]


def test_authorities_are_strangers_to_each_other(tmp_path: Path) -> None:
    one, other = Authority(tmp_path / "one" / "pki"), Authority(tmp_path / "other" / "pki")

    assert certificate(one.client("a", "a")).issuer == certificate(one.server("b", ("b",))).issuer
    assert certificate(one.client("a", "a")).issuer != certificate(other.client("a", "a")).issuer


def test_what_was_issued_stays(tmp_path: Path) -> None:
    pair = Authority(tmp_path).client("admin", "kubernetes-admin")
    before = pair.certificate.read_bytes()

    Authority(tmp_path).client("admin", "kubernetes-admin")

    assert before == pair.certificate.read_bytes()


def test_a_half_written_pair_is_issued_anew(tmp_path: Path) -> None:
    pair = Authority(tmp_path).client("admin", "kubernetes-admin")
    pair.certificate.unlink()

    assert Authority(tmp_path).client("admin", "kubernetes-admin").certificate.is_file()


def test_the_key_that_checks_tokens_belongs_to_the_one_that_signs_them(tmp_path: Path) -> None:
    pair = Authority(tmp_path).signing_keys()

    key = load_pem_private_key(pair.key.read_bytes(), None)
    assert certificate(pair).public_key() == key.public_key()
    assert b"PRIVATE" not in pair.certificate.read_bytes()
    assert Authority(tmp_path).signing_keys() == pair


def test_keys_are_for_their_owner_only(tmp_path: Path) -> None:
    Authority(tmp_path).client("admin", "kubernetes-admin")

    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
