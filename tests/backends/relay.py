"""A relay between a client and a server on this machine, which can be closed: the server is away."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Relay:
    def __init__(self) -> None:
        self.port = 0
        self._sockets: list[socket.socket] = []

    def open(self, server: int) -> None:
        """Lead to the server at a port from now on. Clients find the relay itself always at the same port."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._sockets = [listener]
        threading.Thread(target=self._accept, args=(listener, server), daemon=True).start()

    def close(self) -> None:
        """Take no more connections and break off those that there are."""
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._sockets = []

    def _accept(self, listener: socket.socket, target: int) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", target))
                self._sockets += [client, server]
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=_pass_on, args=pair, daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
