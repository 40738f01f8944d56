"""What every client written in Python has to see. `checks.mjs` asks the same of those written in JavaScript."""

import json
import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import anyio

# How long one check may take, in seconds. Reached only by what is broken.
LIMIT = 90

PROGRAM, STATE_DIR, JOURNAL = sys.argv[1:4]

TOOLS = [
    "appduct_call_tool",
    "appduct_connect",
    "appduct_describe_tool",
    "appduct_events",
    "appduct_list_events",
    "appduct_list_tools",
    "appduct_sessions",
    "appduct_wait_for_event",
    "appduct_wait_for_session",
]

GROUPS = [
    {"group": "counter", "total": 2},
    {"group": "diagnostics", "total": 2},
    {"group": "diagnostics/progress", "total": 1},
    {"group": None, "total": 1},
]

# What comes back from a tool, as it was on the line.
Answer = dict[str, Any]
OnProgress = Callable[[float, float | None, str | None], Awaitable[None]]


class Peer(Protocol):
    """A connected client."""

    protocol_version: str
    # None where the client never asks for them, because it was told which version to speak.
    instructions: str | None
    # What arrived and could not be placed.
    errors: list[Exception]

    async def tools(self) -> dict[str, Any]: ...

    async def resource(self, uri: str) -> dict[str, Any]: ...

    async def call(self, name: str, args: dict[str, Any], on_progress: OnProgress | None = None) -> Answer: ...


# Starts a server with more arguments, and connects to it. Without an answer the client says that it cannot ask anybody.
Open = Callable[[list[str], Callable[[str], str] | None], AbstractAsyncContextManager[Peer]]


def server_environment() -> dict[str, str]:
    """A state directory of its own, and nothing of the caller's settings."""
    return {"PATH": os.environ["PATH"], "HOME": STATE_DIR, "APPDUCT_STATE_DIR": STATE_DIR}


class Report:
    """Prints one line for each check; the last line says that none was left out."""

    def __init__(self) -> None:
        self.failed = 0

    async def check(self, name: str, body: Callable[[], Awaitable[None]]) -> None:
        try:
            with anyio.fail_after(LIMIT):
                await body()
            print(f"ok {name}", flush=True)
        except Exception as error:
            self.failed += 1
            lines = "".join(traceback.format_exception_only(error))
            at = traceback.extract_tb(error.__traceback__)[-1].line
            print(f"not ok {name}: {' '.join(f'{lines} at {at}'.split())[:600]}", flush=True)

    def finish(self) -> None:
        print("done", flush=True)
        sys.exit(1 if self.failed else 0)


class Journal:
    """The lines that the app has printed, from the moment at which this was made."""

    def __init__(self) -> None:
        self.start = len(self.read())

    @staticmethod
    def read() -> str:
        return Path(JOURNAL).read_text()

    async def shows(self, text: str) -> None:
        while text not in self.read()[self.start :]:
            await anyio.sleep(0.01)


def text_of(result: Answer) -> str:
    assert len(result["content"]) == 1 and result["content"][0]["type"] == "text", result
    return result["content"][0]["text"]


def value_of(result: Answer) -> Any:
    """The value of a successful result, which is there twice where it is an object: as data, and as the same text."""
    assert not result.get("isError"), result
    text = text_of(result)
    value = json.loads(text)
    assert result.get("structuredContent") == (value if isinstance(value, dict) else None), result
    compact = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    assert text == compact, f"{text} is not compact"
    return value


def fails_with(result: Answer, kind: str) -> str:
    """Asserts that a result is a failure of this type, in the form that all failures have."""
    text = text_of(result)
    assert result.get("isError") is True and "structuredContent" not in result, result
    assert text.startswith(f"{kind}: "), f"expected {kind}, got {text}"
    return text


async def everything(open: Open, is_modern: bool) -> None:
    """Runs all checks."""
    report = Report()
    questions: list[str] = []

    def ask(answer: str) -> Callable[[str], str]:
        def asked(question: str) -> str:
            questions.append(question)
            return answer

        return asked

    async with open([], ask("accept")) as peer:
        await all_but_the_end(report, peer, open, is_modern, questions, ask)

    async def leaves() -> None:
        assert peer.errors == [], peer.errors

    await report.check("leaves without a message that it cannot place", leaves)
    report.finish()


async def all_but_the_end(
    report: Report,
    peer: Peer,
    open: Open,
    is_modern: bool,
    questions: list[str],
    ask: Callable[[str], Callable[[str], str]],
) -> None:
    async def app(name: str, args: Any = None, on_progress: OnProgress | None = None, client: Peer = peer) -> Answer:
        arguments = {"name": name} if args is None else {"name": name, "args": args}
        return await client.call("appduct_call_tool", arguments, on_progress)

    async def count() -> int:
        return value_of(await app("call_count"))["count"]

    async def era() -> None:
        assert (peer.protocol_version >= "2026-07-28") == is_modern, peer.protocol_version

    await report.check("negotiates the era", era)

    async def instructions() -> None:
        if peer.instructions is None:
            assert is_modern, "initialize brings them"
        else:
            assert 0 < len(peer.instructions.encode()) <= 1536, peer.instructions

    await report.check("reads the instructions", instructions)

    async def built_in() -> None:
        listed = await peer.tools()
        assert sorted(tool["name"] for tool in listed["tools"]) == TOOLS
        assert all(tool["title"] and tool["annotations"] for tool in listed["tools"])

    await report.check("lists the built-in tools", built_in)

    async def sessions() -> None:
        found = value_of(await peer.call("appduct_sessions", {}))["sessions"]
        assert [session["alias"] for session in found] == ["playground"]

    await report.check("lists the sessions", sessions)

    async def resource() -> None:
        text = (await peer.resource("appduct://sessions"))["contents"][0]["text"]
        assert '"playground"' in text, text

    await report.check("reads the resource of sessions", resource)

    async def lists() -> None:
        listed = value_of(await peer.call("appduct_list_tools", {}))
        assert listed["total"] == len(listed["tools"]) == 5
        assert listed["groups"] == GROUPS

    await report.check("lists the app's tools and groups", lists)

    async def narrows() -> None:
        listed = value_of(await peer.call("appduct_list_tools", {"group": "diagnostics"}))
        tools = [(tool["name"], tool["group"]) for tool in listed["tools"]]
        assert tools == [("slow_task", "diagnostics/progress"), ("throwing_tool", "diagnostics")]
        assert listed["total"] == 2 and listed["groups"] == GROUPS

    await report.check("narrows to one group", narrows)

    async def describes() -> None:
        tool = value_of(await peer.call("appduct_describe_tool", {"name": "slow_task"}))
        assert tool["group"] == "diagnostics/progress" and tool["timeout_ms"] == 5000

    await report.check("describes a tool", describes)

    async def calls() -> None:
        assert value_of(await app("sum", {"a": 2, "b": 3})) == {"total": 5}

    await report.check("calls a tool", calls)

    async def calls_with_text() -> None:
        assert value_of(await app("sum", '{"a":2,"b":0.5}')) == {"total": 2.5}

    await report.check("calls with arguments that are a string of JSON", calls_with_text)

    async def error() -> None:
        assert "throwing_tool always fails on purpose." in fails_with(await app("throwing_tool"), "tool_execution_error")

    await report.check("gets the error of a tool", error)

    async def no_tool() -> None:
        fails_with(await app("nothing"), "tool_not_found")

    await report.check("gets an error for a tool that is not there", no_tool)

    async def wrong_shape() -> None:
        fails_with(await app("sum", {"a": "two"}), "tool_input_validation_error")

    await report.check("gets an error for arguments of the wrong shape", wrong_shape)

    async def unknown_argument() -> None:
        assert "grop" in fails_with(await peer.call("appduct_list_tools", {"grop": "counter"}), "invalid_request")

    await report.check("gets an error for an argument that no tool knows", unknown_argument)

    async def accepts() -> None:
        await app("sum", {"a": 1, "b": 1})
        assert await count() > 0
        questions.clear()
        assert value_of(await app("reset_counter")) == {"count": 0}
        assert len(questions) == 1 and "reset_counter" in questions[0] and "playground" in questions[0], questions

    await report.check("accepts", accepts)

    async def says_no(answer: str) -> None:
        async with open([], ask(answer)) as other:
            await app("sum", {"a": 1, "b": 1})
            before = await count()
            questions.clear()
            fails_with(await app("reset_counter", client=other), "consent_declined")
            assert len(questions) == 1 and await count() == before

    await report.check("declines", lambda: says_no("decline"))
    await report.check("dismisses the question", lambda: says_no("cancel"))

    async def nobody() -> None:
        async with open([], None) as other:
            await app("sum", {"a": 1, "b": 1})
            before = await count()
            assert "no_consent_channel" in fails_with(await app("reset_counter", client=other), "policy_denied")
            assert await count() == before

    await report.check("is denied where nobody can be asked", nobody)

    async def progress() -> None:
        seen: list[tuple[float, str | None]] = []

        async def on_progress(progress: float, _total: float | None, message: str | None) -> None:
            seen.append((progress, message))

        assert value_of(await app("slow_task", {}, on_progress)) == {"done": True}
        messages = [message for _, message in seen]
        assert "warming up" in messages and "almost there" in messages, seen
        assert [at for at, _ in seen] == sorted(at for at, _ in seen), seen

    await report.check("sees progress", progress)

    async def cancels(with_progress: bool) -> None:
        lines = Journal()
        async with anyio.create_task_group() as tasks:

            async def on_progress(*_: Any) -> None:
                tasks.cancel_scope.cancel()

            async def call() -> None:
                await app("slow_task", {}, on_progress if with_progress else None)
                raise AssertionError("the call was answered")

            tasks.start_soon(call)
            if not with_progress:
                await lines.shows("slow_task started")
                tasks.cancel_scope.cancel()
        await lines.shows("slow_task failed: tool_cancelled")

    await report.check("cancels", lambda: cancels(True))
    await report.check("cancels without a progress token", lambda: cancels(False))

    async def events() -> None:
        listed = value_of(await peer.call("appduct_list_events", {}))
        assert [event["name"] for event in listed["events"]] == ["playground_ping"]
        assert value_of(await peer.call("appduct_events", {}))["events"] == []

    await report.check("lists and reads events", events)

    async def waits() -> None:
        fails_with(await peer.call("appduct_wait_for_event", {"name": "never", "timeoutMs": 50}), "tool_timeout")

    await report.check("waits for an event that does not come", waits)

    async def held() -> None:
        async with open(["--session", "playground", "--group", "counter"], ask("accept")) as other:
            listed = value_of(await other.call("appduct_list_tools", {}))
            assert [tool["name"] for tool in listed["tools"]] == ["call_count", "reset_counter"]
            assert (await app("sum", {"a": 1, "b": 1}, client=other)).get("isError") is True
            assert value_of(await app("call_count", client=other))["count"] >= 0

    await report.check("is held to a group and a session", held)
