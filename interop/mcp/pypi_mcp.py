"""The Python SDK, in the mode that its last argument names."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.session import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from checks import PROGRAM, Answer, OnProgress, everything, server_environment

MODE = sys.argv[4]


class Peer:
    def __init__(self, client: Client, errors: list[Exception]) -> None:
        self.client = client
        self.errors = errors
        self.protocol_version = client.protocol_version
        self.instructions = client.instructions

    async def tools(self) -> dict[str, Any]:
        return as_sent(await self.client.list_tools())

    async def resource(self, uri: str) -> dict[str, Any]:
        return as_sent(await self.client.read_resource(uri))

    async def call(self, name: str, args: dict[str, Any], on_progress: OnProgress | None = None) -> Answer:
        result = await self.client.call_tool(name, args, progress_callback=on_progress)
        assert isinstance(result, CallToolResult)
        return as_sent(result)


def as_sent(result: Any) -> dict[str, Any]:
    return result.model_dump(mode="json", by_alias=True, exclude_unset=True)


@asynccontextmanager
async def open_peer(args: list[str], answer: Callable[[str], str] | None) -> AsyncIterator[Peer]:
    errors: list[Exception] = []

    async def asked(_context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert answer is not None
        action = answer(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    async def arrived(message: Any) -> None:
        if isinstance(message, Exception):
            errors.append(message)

    server = StdioServerParameters(command=PROGRAM, args=["mcp", *args], env=server_environment())
    callback = asked if answer else None
    async with Client(server, mode=MODE, elicitation_callback=callback, message_handler=arrived) as client:
        yield Peer(client, errors)


anyio.run(everything, open_peer, MODE != "legacy")
