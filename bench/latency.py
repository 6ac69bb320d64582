"""A TCP proxy that delays everything, as the distance to another region does: `python -m bench.latency PORT MILLISECONDS`.

It prints the port at which it listens. Half of the milliseconds are added in each direction.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio import Queue, StreamReader, StreamWriter

_BYTES = 2**16


async def _delayed(reader: StreamReader, writer: StreamWriter, seconds: float) -> None:
    """Send what is read so many seconds later, in its order."""
    loop = asyncio.get_running_loop()
    pending: Queue[tuple[float, bytes]] = Queue()

    async def read() -> None:
        data = b"?"
        while data:
            try:
                data = await reader.read(_BYTES)
            except OSError:
                data = b""
            pending.put_nowait((loop.time() + seconds, data))

    reading = asyncio.create_task(read())
    try:
        while True:
            due, data = await pending.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not data:
                return
            writer.write(data)
            await writer.drain()
    except OSError:
        return
    finally:
        reading.cancel()
        writer.close()


async def _serve(port: int, seconds: float) -> None:
    async def connect(reader: StreamReader, writer: StreamWriter) -> None:
        # The connection itself takes a round trip, too.
        await asyncio.sleep(2 * seconds)
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_delayed(reader, back, seconds), _delayed(there, writer, seconds))

    server = await asyncio.start_server(connect, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2]) / 2_000))
