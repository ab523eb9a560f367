"""`coalesce lsp` with the client of pygls: diagnostics, references, a renamed file, a move and back."""

import asyncio
import pathlib

from lsprotocol import types
from pygls.lsp.client import LanguageClient

import trees

FILES = {
    "pkg/__init__.py": "",
    "pkg/gpu.py": "def begin():\n    return 1\n",
    "pkg/core/__init__.py": "",
    "pkg/use.py": "from pkg.gpu import begin\nimport pkg.gone\n\nbegin()\n",
}


async def session(program: str, root: pathlib.Path) -> None:
    client = LanguageClient("a client of pygls", "1")
    told: dict[str, list] = {}
    arrived = asyncio.Event()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def publish(params: types.PublishDiagnosticsParams) -> None:
        told[params.uri] = params.diagnostics
        arrived.set()

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def show(params: types.ShowMessageParams) -> None:
        print("told:", params.message)

    await client.start_io(program, "lsp", "--root", str(root))
    edit = types.WorkspaceEditClientCapabilities(
        document_changes=True,
        resource_operations=[types.ResourceOperationKind.Create],
    )
    capabilities = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(workspace_edit=edit)
    )
    folder = types.WorkspaceFolder(uri=root.as_uri(), name="tree")
    answer = await client.initialize_async(
        types.InitializeParams(
            capabilities=capabilities, workspace_folders=[folder], process_id=None
        )
    )
    assert answer.capabilities.references_provider, answer
    client.initialized(types.InitializedParams())

    use = root / "pkg/use.py"
    await asyncio.wait_for(arrived.wait(), 60)
    codes = [one.code for one in told[use.as_uri()]]
    assert codes == ["unresolved-internal-import"], told
    print("diagnostics:", codes)

    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            types.TextDocumentItem(use.as_uri(), "python", 3, use.read_text())
        )
    )
    found = await client.text_document_references_async(
        types.ReferenceParams(
            context=types.ReferenceContext(include_declaration=False),
            text_document=types.TextDocumentIdentifier(use.as_uri()),
            position=types.Position(line=0, character=10),
        )
    )
    assert [place.uri for place in found] == [use.as_uri()], found
    print("references:", len(found))

    renamed = types.FileRename(
        old_uri=(root / "pkg/gpu.py").as_uri(),
        new_uri=(root / "pkg/core/gpu.py").as_uri(),
    )
    edits = await client.workspace_will_rename_files_async(
        types.RenameFilesParams(files=[renamed])
    )
    (change,) = edits.document_changes
    assert change.text_document.uri == use.as_uri(), edits
    assert change.text_document.version == 3, "edits are tied to the version of the buffer"
    print("edits of a rename:", len(change.edits))

    move = types.ExecuteCommandParams(
        command="coalesce.move", arguments=[{"from": "pkg.gpu", "to": "pkg.core.gpu"}]
    )
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=4, uri=use.as_uri()),
            [types.TextDocumentContentChangeWholeDocument("from pkg.gpu import begin\n")],
        )
    )
    try:
        await client.workspace_execute_command_async(move)
    except Exception as error:
        assert "differs from the file" in str(error), error
        print("refused:", error)
    else:
        raise AssertionError("a move went through while a buffer was unsaved")
    use.write_text("from pkg.gpu import begin\n")
    done = await client.workspace_execute_command_async(move)
    assert use.read_text() == "from pkg.core.gpu import begin\n", use.read_text()
    print("moved:", done)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=5, uri=use.as_uri()),
            [types.TextDocumentContentChangeWholeDocument(use.read_text())],
        )
    )
    await client.workspace_execute_command_async(
        types.ExecuteCommandParams(command="coalesce.rollback", arguments=[{}])
    )
    assert use.read_text() == "from pkg.gpu import begin\n", use.read_text()
    assert (root / "pkg/gpu.py").exists()
    print("taken back")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


trees.run(FILES, session)
