"""Certificates of a sandbox: one authority for each cluster and one for etcd.

Separate authorities keep the clusters apart as real ones are: what one of them trusts means nothing to another.
What was issued once stays, so a second `up` leaves running servers their certificates.
"""

from dataclasses import dataclass
from pathlib import Path

import trustme

from tenantry_sandbox.layout import write_private

AUTHENTICATED = "system:authenticated"
"""The group that the API server puts every user into anyway. A certificate of trustme always names a group."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Authority:
    """Issues certificates into one directory. All are for servers and for clients, as etcd's peers need both."""

    directory: Path

    @property
    def pair(self) -> KeyPair:
        return self._pair("ca")

    def server(self, name: str, hosts: tuple[str, ...]) -> KeyPair:
        """A certificate for a server with these names and addresses."""
        return self._issued(name, hosts)

    def client(self, name: str, user: str, group: str = AUTHENTICATED) -> KeyPair:
        """A certificate that authenticates to an API server as this user in this group."""
        # Go refuses certificates of trustme without a name for a server, so a client has one, too.
        return self._issued(name, ("client.sandbox.test",), user, group)

    def signing_keys(self) -> KeyPair:
        """The pair that signs service account tokens. The API server takes the public key from a certificate, too."""
        return self._issued("service-accounts", ("service-accounts.sandbox.test",))

    def _issued(self, name: str, hosts: tuple[str, ...], user: str | None = None, group: str | None = None) -> KeyPair:
        pair = self._pair(name)
        if not pair.certificate.is_file():
            leaf = self._authority().issue_cert(*hosts, common_name=user, organization_name=group)
            write_private(pair.key, leaf.private_key_pem.bytes())
            write_private(pair.certificate, leaf.cert_chain_pems[0].bytes())
        return pair

    def _authority(self) -> trustme.CA:
        pair = self.pair
        if pair.certificate.is_file():
            return trustme.CA.from_pem(pair.certificate.read_bytes(), pair.key.read_bytes())
        authority = trustme.CA(organization_unit_name=f"sandbox authority {self.directory.parent.name}")
        write_private(pair.key, authority.private_key_pem.bytes())
        write_private(pair.certificate, authority.cert_pem.bytes())
        return authority

    def _pair(self, name: str) -> KeyPair:
        return KeyPair(self.directory / f"{name}.crt", self.directory / f"{name}.key")
