"""The official Python SDK of the Model Context Protocol as a client of a running server,
whose address is the first argument, and at the same time of a program, which the others
start. One process for both: loading the SDK takes longer than either conversation."""

import asyncio
import json
import sys

from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


async def talk(streams, asks):
    async with ClientSession(streams[0], streams[1]) as s:
        got = await s.initialize()
        assert got.server_info.name == "macaron", got
        names = sorted(t.name for t in (await s.list_tools()).tools)
        assert names == ["ask"] * asks + ["call_tool", "close_session", "list_sessions", "list_tools", "render_ui", "run_code", "save_tool"], names

        async def call(tool, fails=False, **args):
            r = await s.call_tool(tool, args)
            assert bool(r.is_error) == fails, (tool, args, r)
            return r.content[0].text if fails else r.structured_content

        first = await call("run_code", code="x = 20\nprint('hi')\nx + 1")
        assert first["status"] == "ok" and first["output"] == "hi\n" and first["value"] == "21", first
        session = first["session"]
        again = await call("run_code", code="x * 2", session=session)
        assert again["value"] == "40", again
        wrote = await call("call_tool", name="write_file", arguments={"path": "a.txt", "text": "abc"}, session=session)
        assert json.loads(wrote["result"]) == {"bytes": 3, "created": True}, wrote
        read = await call("run_code", code="open('a.txt').read() + read_file(path='a.txt')['text']", session=session)
        assert read["value"] == "'abcabc'", read
        tools = await call("list_tools", session=session)
        assert [t["name"] for t in tools["tools"]] == ["list_files", "read_file", "write_file"], tools
        assert "does not fit" in (await call("call_tool", fails=True, name="read_file", arguments={"path": 3}, session=session)).replace("do not fit", "does not fit")
        assert "leads out" in (await call("run_code", code="import os; os.symlink('/etc', 'e')\nread_file(path='e/hostname')", session=session))["traceback"]
        bad = await call("run_code", code="1/0", session=session)
        assert bad["status"] == "error" and "ZeroDivisionError" in bad["traceback"], bad
        assert "not_found" in await call("run_code", fails=True, code="1", session="mcp_other")
        saved = await call("save_tool", name="double", source="def double(n: int):\n    return n * 2\n", examples=[{"args": {"n": 2}, "value": 4}], session=session)
        assert saved["status"] == "saved" and saved["tool"].startswith("sha256:"), saved
        assert (await call("list_sessions"))["sessions"] == [session]
        if asks:
            said = await call("ask", text="Say hello.", session=session)
            assert said["answer"] and said["adapter"] and said["session"] == session, said
            more = await call("ask", text="And again.", session=session)
            assert more["conversation"].split("/")[0] == said["conversation"].split("/")[0] and more != said, (said, more)
        await call("close_session", session=session)
        assert (await call("list_sessions"))["sessions"] == []
        try:
            r = await s.call_tool("nothing", {})
            assert r.is_error, r
        except MCPError:
            pass


async def http(address):
    async with streamable_http_client(address) as streams:
        await talk(streams, True)


async def stdio(command, *args):
    async with stdio_client(StdioServerParameters(command=command, args=args)) as streams:
        await talk(streams, False)


async def main():
    await asyncio.gather(http(sys.argv[1]), stdio(*sys.argv[2:]))
    print("ok")


asyncio.run(main())
