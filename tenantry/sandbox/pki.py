"""Certificates of a sandbox: one authority per cluster and one for etcd.

Separate authorities keep the clusters apart as real ones are: what one of them trusts means nothing to another.
Elliptic keys, because they are made in a millisecond. What was issued once stays, so a second `up` leaves running
servers their certificates.
"""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tenantry.sandbox.layout import write_private

LIFETIME = datetime.timedelta(days=3650)
"""Long, because a sandbox with expired certificates would look broken."""
SKEW = datetime.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both PEM files."""

    certificate: Path
    key: Path

    @classmethod
    def at(cls, directory: Path, name: str) -> "KeyPair":
        return cls(directory / f"{name}.crt", directory / f"{name}.key")

    @property
    def exists(self) -> bool:
        return self.certificate.is_file() and self.key.is_file()


@dataclass(frozen=True, slots=True)
class Authority:
    """Issues certificates into one directory."""

    directory: Path

    @property
    def pair(self) -> KeyPair:
        return KeyPair.at(self.directory, "ca")

    def server(self, name: str, hosts: Sequence[str]) -> KeyPair:
        """A certificate for a server with these names and addresses, and for a client, as etcd's peers need both."""
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        extensions = [x509.ExtendedKeyUsage(usages), x509.SubjectAlternativeName([_host(host) for host in hosts])]
        return self._issued(name, _subject(name, ()), extensions)

    def client(self, name: str, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """A certificate that authenticates to an API server as this user in these groups."""
        return self._issued(name, _subject(user, groups), [x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])])

    def signing_keys(self) -> KeyPair:
        """The pair that signs service account tokens: the public key stands where a certificate would."""
        pair = KeyPair(self.directory / "service-accounts.pub", self.directory / "service-accounts.key")
        if not pair.exists:
            key = _new_key()
            write_private(pair.key, _pem(key))
            public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
            write_private(pair.certificate, public)
        return pair

    def _issued(self, name: str, subject: x509.Name, extensions: Sequence[x509.ExtensionType]) -> KeyPair:
        pair = KeyPair.at(self.directory, name)
        if not pair.exists:
            issuer, signer = self._signer()
            key = _new_key()
            builder = _builder(subject, issuer, key.public_key())
            for extension in extensions:
                builder = builder.add_extension(extension, critical=False)
            _store(pair, key, builder.sign(signer, hashes.SHA256()))
        return pair

    def _signer(self) -> tuple[x509.Name, ec.EllipticCurvePrivateKey]:
        if not self.pair.exists:
            self._create()
        key = load_pem_private_key(self.pair.key.read_bytes(), password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise TypeError(f"{self.pair.key} is not an elliptic curve key")
        return x509.load_pem_x509_certificate(self.pair.certificate.read_bytes()).subject, key

    def _create(self) -> None:
        name = _subject(f"sandbox authority {self.directory.parent.name}", ())
        key = _new_key()
        builder = _builder(name, name, key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        _store(self.pair, key, builder.sign(key, hashes.SHA256()))


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _subject(user: str, groups: Sequence[str]) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + LIFETIME)
    )


def _store(pair: KeyPair, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
    write_private(pair.key, _pem(key))
    write_private(pair.certificate, certificate.public_bytes(Encoding.PEM))


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
