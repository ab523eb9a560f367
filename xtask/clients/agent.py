"""`coalesce mcp` with the client of the protocol's own Python package: every tool, with its schema."""

import asyncio
import pathlib

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import trees

FILES = {
    "pkg/__init__.py": "",
    "pkg/gpu.py": "def spread(values):\n    total = sum(values)\n    mean = total / len(values)\n"
    "    return [value - mean for value in values]\n",
    "pkg/use.py": "from pkg.gpu import spread\n\nprint(spread([1, 2]))\n",
}
MANIFEST = 'schema = 1\n\n[[move]]\nfrom = "pkg.gpu"\nto = "pkg.statistics"\n'
TOOLS = {"exists_already", "audit", "refs", "diff", "plan", "migrate", "rollback"}


async def session(program: str, root: pathlib.Path) -> None:
    server = StdioServerParameters(command=program, args=["mcp", "--root", str(root)])
    async with stdio_client(server) as (reads, writes), ClientSession(reads, writes) as client:
        await client.initialize()
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS, set(tools)
        schema = lambda tool, at: getattr(tool, at, None) or getattr(tool, at.replace("S", "_s"))
        for tool in tools.values():
            jsonschema.Draft202012Validator.check_schema(schema(tool, "inputSchema"))
            jsonschema.Draft202012Validator.check_schema(schema(tool, "outputSchema"))

        async def call(name: str, arguments: dict, fails: bool = False):
            jsonschema.validate(arguments, schema(tools[name], "inputSchema"))
            result = await client.call_tool(name, arguments)
            failed = getattr(result, "isError", None) or getattr(result, "is_error", False)
            assert bool(failed) == fails, (name, result)
            data = getattr(result, "structuredContent", None)
            data = data or getattr(result, "structured_content", None)
            if not fails:
                jsonschema.validate(data, schema(tools[name], "outputSchema"))
            print(f"{name}: {result.content[0].text.strip().splitlines()[-1]}")
            return data

        snippet = FILES["pkg/gpu.py"].replace("spread", "centred")
        await call("exists_already", {"snippet": snippet, "language": "python"})
        await call("audit", {})
        await call("refs", {"name": "pkg.gpu"})
        await call("diff", {"left": "pkg.gpu", "right": "pkg.use"})
        await call("plan", {"manifest": MANIFEST})
        before = (root / "pkg/use.py").read_text()
        await call("migrate", {"manifest": MANIFEST})
        assert (root / "pkg/use.py").read_text() == before, "migrate is dry unless told otherwise"
        await call("migrate", {"manifest": MANIFEST, "apply": True})
        assert "pkg.statistics" in (root / "pkg/use.py").read_text()
        await call("rollback", {})
        assert (root / "pkg/use.py").read_text() == before
        await call("refs", {"name": "pkg.nothing"}, fails=True)


trees.run(FILES, session)
