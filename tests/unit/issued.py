"""Certificates for tests, issued by a library that is not ours."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)
KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(begin: datetime, end: datetime, *, names: int = 1) -> bytes:
    """A certificate in PEM; many names make it so long that its lengths need more than one byte."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "marker-subject")])
    hosts = x509.SubjectAlternativeName([x509.DNSName(f"marker-{index}.example.com") for index in range(names)])
    builder = x509.CertificateBuilder(subject, subject, KEY.public_key(), x509.random_serial_number(), begin, end)
    signed = builder.add_extension(hosts, critical=False).sign(KEY, hashes.SHA256())
    return signed.public_bytes(Encoding.PEM)


def private_key() -> bytes:
    return KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
