"""The client of fastmcp, in the mode that its last argument names."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport

from checks import PROGRAM, Answer, OnProgress, everything, server_environment

MODE = sys.argv[4]


class Peer:
    def __init__(self, client: Client, errors: list[Exception]) -> None:
        self.client = client
        self.errors = errors
        self.protocol_version = client.protocol_version or ""
        self.instructions = client.instructions

    async def tools(self) -> dict[str, Any]:
        return as_sent(await self.client.list_tools_mcp())

    async def resource(self, uri: str) -> dict[str, Any]:
        return as_sent(await self.client.read_resource_mcp(uri))

    async def call(self, name: str, args: dict[str, Any], on_progress: OnProgress | None = None) -> Answer:
        return as_sent(await self.client.call_tool_mcp(name, args, progress_handler=on_progress))


def as_sent(result: Any) -> dict[str, Any]:
    return result.model_dump(mode="json", by_alias=True, exclude_unset=True)


@asynccontextmanager
async def open_peer(args: list[str], answer: Callable[[str], str] | None) -> AsyncIterator[Peer]:
    errors: list[Exception] = []

    async def asked(message: str, _kind: Any, _params: Any, _context: Any) -> Any:
        assert answer is not None
        action = answer(message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    async def arrived(message: Any) -> None:
        if isinstance(message, Exception):
            errors.append(message)

    server = StdioTransport(PROGRAM, ["mcp", *args], env=server_environment(), keep_alive=False)
    handler = asked if answer else None
    async with Client(server, mode=MODE, elicitation_handler=handler, message_handler=arrived) as client:
        yield Peer(client, errors)


anyio.run(everything, open_peer, MODE != "legacy")
