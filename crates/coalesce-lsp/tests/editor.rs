//! An editor of few words: what it says to the server, and what it is told.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may end")]

use std::{fs, path::Path, thread};

use coalesce_lsp::{Checker, serve};
use coalesce_model::{
    Severity,
    envelope::{Body, Check, Command, Envelope, ErrorEntry, FindingEntry, Range},
    finding::codes,
};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

/// Finds the word `deprecated` in `pkg/use.py`.
struct Finder;

impl Checker for Finder {
    fn check(&self, root: &Path) -> Result<Envelope, ErrorEntry> {
        let mut envelope = Envelope::new(".", Command::Check, Body::Check(Check::default()));
        let text = fs::read_to_string(root.join("pkg/use.py")).unwrap_or_default();
        let found = text.find("deprecated").map(|at| FindingEntry {
            code: codes::FORBIDDEN_PATH,
            severity: Severity::Error,
            path: "pkg/use.py".to_owned(),
            range: Some(Range {
                start: u32::try_from(at).unwrap(),
                end: u32::try_from(at + 10).unwrap(),
                line: 1,
                column: 1,
            }),
            message: "an old path".to_owned(),
            help: Some("use the new one".to_owned()),
            excerpt: None,
            changed: None,
        });
        envelope.findings.extend(found);
        Ok(envelope)
    }
}

struct Editor {
    connection: Connection,
    root: tempfile::TempDir,
    asked: i32,
    /// What was told, and not yet looked at.
    told: Vec<Notification>,
}

const FILES: &[(&str, &str)] = &[
    ("pkg/__init__.py", ""),
    ("pkg/a/__init__.py", ""),
    (
        "pkg/a/gpu.py",
        "\"\"\"é𝄞\"\"\"\n\n\ndef alloc(size):\n    return size\n",
    ),
    ("pkg/b/__init__.py", ""),
    (
        "pkg/use.py",
        "from pkg.a.gpu import alloc\n\nx = \"𝄞\"; y = alloc(1)\n",
    ),
    (
        "pkg/other.py",
        "import pkg.a.gpu\n\nprint(pkg.a.gpu.alloc(2))\n",
    ),
    ("README.md", "Call `pkg.a.gpu.alloc`.\n"),
    (
        "pyproject.toml",
        "[project]\nname = \"pkg\"\nversion = \"1\"\n",
    ),
];

/// Runs a session of an editor that has this workspace edit capability.
fn edit(capability: Value, session: impl FnOnce(&mut Editor)) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (server, client) = Connection::memory();
    let served = thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || serve(&server, "/nowhere".into(), &Finder))
        .unwrap();
    let mut editor = Editor {
        connection: client,
        root,
        asked: 0,
        told: Vec::new(),
    };
    let uri = editor.uri("");
    let params = json!({
        "capabilities": { "workspace": { "workspaceEdit": capability } },
        "workspaceFolders": [{ "uri": uri, "name": "tree" }],
    });
    let answer = editor.ask("initialize", params).unwrap();
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    editor.tell("initialized", json!({}));
    session(&mut editor);
    editor.ask("shutdown", Value::Null).unwrap();
    editor.tell("exit", Value::Null);
    served.join().unwrap().unwrap();
}

impl Editor {
    fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.root.path().display())
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.path().join(path)).unwrap()
    }

    fn send(&self, message: impl Into<Message>) {
        self.connection.sender.send(message.into()).unwrap();
    }

    fn tell(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn next(&self) -> Message {
        let patience = std::time::Duration::from_mins(1);
        self.connection.receiver.recv_timeout(patience).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request::new(id.clone(), method.to_owned(), params));
        loop {
            match self.next() {
                Message::Response(response) => {
                    assert_eq!(response.id, id);
                    return match response.error {
                        Some(error) => Err(format!("{}: {}", error.code, error.message)),
                        None => Ok(response.result.unwrap_or_default()),
                    };
                }
                Message::Notification(notification) => self.told.push(notification),
                Message::Request(request) => panic!("{request:?}"),
            }
        }
    }

    /// What is told next by this method.
    fn told(&mut self, method: &str) -> Value {
        loop {
            let at = self.told.iter().position(|told| told.method == method);
            if let Some(at) = at {
                return self.told.remove(at).params;
            }
            match self.next() {
                Message::Notification(notification) => self.told.push(notification),
                other => panic!("{other:?}"),
            }
        }
    }

    fn open(&self, path: &str, text: &str) {
        let document = json!({
            "uri": self.uri(path), "languageId": "python", "version": 7, "text": text,
        });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn at(&self, path: &str, line: u32, character: u32) -> Value {
        json!({
            "textDocument": { "uri": self.uri(path) },
            "position": { "line": line, "character": character },
            "context": { "includeDeclaration": false },
        })
    }

    fn rename(&mut self, from: &str, to: &str) -> Value {
        let files = json!([{ "oldUri": self.uri(from), "newUri": self.uri(to) }]);
        self.ask("workspace/willRenameFiles", json!({ "files": files }))
            .unwrap()
    }

    fn run(&mut self, command: &str, argument: Value) -> Result<Value, String> {
        let params = json!({ "command": command, "arguments": [argument] });
        self.ask("workspace/executeCommand", params)
    }
}

/// Files and first lines of locations, sorted.
fn places(locations: &Value) -> Vec<(String, u64, u64)> {
    let locations = locations.as_array().unwrap().iter();
    let mut places: Vec<_> = locations
        .map(|location| {
            let file = location["uri"].as_str().unwrap().rsplit('/').next();
            let start = &location["range"]["start"];
            (
                file.unwrap().to_owned(),
                start["line"].as_u64().unwrap(),
                start["character"].as_u64().unwrap(),
            )
        })
        .collect();
    places.sort();
    places
}

#[test]
fn findings_come_with_the_files_that_are_saved() {
    edit(json!({}), |editor| {
        let path = "pkg/use.py";
        let text = "x = \"𝄞\"; deprecated\n";
        fs::write(editor.root.path().join(path), text).unwrap();
        editor.open(path, text);
        editor.tell("textDocument/didSave", editor.at(path, 0, 0));
        let told = editor.told("textDocument/publishDiagnostics");
        let found = &told["diagnostics"][0];
        assert_eq!(told["uri"], editor.uri(path));
        assert_eq!(found["code"], "forbidden-path");
        assert_eq!(found["source"], "coalesce");
        let start = json!({ "line": 0, "character": 10 });
        assert_eq!(found["range"]["start"], start, "{found}");
        fs::write(editor.root.path().join(path), "").unwrap();
        editor.open(path, "");
        editor.tell("textDocument/didSave", editor.at(path, 0, 0));
        loop {
            let told = editor.told("textDocument/publishDiagnostics");
            if told["diagnostics"] == json!([]) {
                break;
            }
        }
    });
}

#[test]
fn a_finding_that_went_while_its_buffer_was_unsaved_is_taken_back_when_it_is_saved() {
    edit(json!({}), |editor| {
        let path = "pkg/use.py";
        let file = editor.root.path().join(path);
        fs::write(&file, "deprecated\n").unwrap();
        editor.open(path, "deprecated\n");
        editor.tell("textDocument/didSave", editor.at(path, 0, 0));
        while editor.told("textDocument/publishDiagnostics")["diagnostics"] == json!([]) {}
        // Another program mends the file; the buffer shows something else.
        fs::write(&file, "mended\n").unwrap();
        editor.open(path, "typing\n");
        editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
        for _ in 0..2 {
            let place = editor.at("pkg/other.py", 0, 0);
            editor.ask("textDocument/references", place).unwrap();
        }
        editor.open(path, "mended\n");
        editor.tell("textDocument/didSave", editor.at(path, 0, 0));
        while editor.told("textDocument/publishDiagnostics")["diagnostics"] != json!([]) {}
    });
}

#[test]
fn references_cross_languages_of_documents() {
    edit(json!({}), |editor| {
        // From a use behind characters that UTF-16 counts twice.
        let params = editor.at("pkg/use.py", 2, 16);
        let of_item = editor.ask("textDocument/references", params).unwrap();
        let found = places(&of_item);
        for place in [("use.py", 0, 22), ("use.py", 2, 14), ("README.md", 0, 6)] {
            let place = (place.0.to_owned(), place.1, place.2);
            assert!(found.contains(&place), "{place:?} of {found:?}");
        }
        let from_definition = editor.at("pkg/a/gpu.py", 3, 5);
        let same = editor
            .ask("textDocument/references", from_definition)
            .unwrap();
        assert_eq!(places(&same), found);
        let of_module = editor.at("pkg/other.py", 0, 14);
        let of_module = editor.ask("textDocument/references", of_module).unwrap();
        let files: Vec<_> = places(&of_module)
            .into_iter()
            .map(|place| place.0)
            .collect();
        assert!(files.contains(&"use.py".to_owned()), "{files:?}");
        let nothing = editor.at("pkg/use.py", 1, 0);
        assert_eq!(
            editor.ask("textDocument/references", nothing),
            Ok(Value::Null)
        );
        editor.open("pkg/use.py", "# not saved\n");
        let unsaved = editor.at("pkg/use.py", 0, 3);
        let error = editor.ask("textDocument/references", unsaved).unwrap_err();
        assert!(error.contains("-32803: save pkg/use.py first"), "{error}");
    });
}

#[test]
fn edits_follow_a_rename_across_parents() {
    let capability = json!({ "documentChanges": true, "resourceOperations": ["create", "rename"] });
    edit(capability, |editor| {
        editor.open("pkg/use.py", FILES[4].1);
        let edit = editor.rename("pkg/a/gpu.py", "pkg/b/memory.py");
        let changes = edit["documentChanges"].as_array().unwrap();
        let of = |path: &str| {
            let uri = editor.uri(path);
            let mut own = changes.iter();
            own.find(|change| change["textDocument"]["uri"] == uri)
                .cloned()
        };
        let used = of("pkg/use.py").unwrap();
        assert_eq!(used["textDocument"]["version"], 7);
        let text = used["edits"][0]["newText"].as_str().unwrap();
        assert_eq!(text, "from pkg.b.memory import alloc\n");
        // Closed ones have no version.
        assert_eq!(
            of("pkg/other.py").unwrap()["textDocument"]["version"],
            Value::Null
        );
        assert_eq!(of("pkg/a/gpu.py"), None, "its text stays");
        // Nothing was written.
        assert_eq!(editor.read("pkg/use.py"), FILES[4].1);
    });
}

#[test]
fn a_rename_that_takes_more_than_edits_gets_none_and_a_reason() {
    edit(json!({}), |editor| {
        for (from, to, reason) in [
            // The target exists.
            ("pkg/a/gpu.py", "pkg/other.py", "no reference follows"),
            ("pkg/a/gpu.py", "elsewhere/gp-u.py", "no reference follows"),
        ] {
            assert_eq!(editor.rename(from, to), Value::Null, "{to}");
            let told = editor.told("window/showMessage");
            let told = told["message"].as_str().unwrap();
            assert!(told.contains(reason), "{told}");
        }
        editor.open("pkg/use.py", "from pkg.a.gpu import alloc  # not saved\n");
        assert_eq!(editor.rename("pkg/a/gpu.py", "pkg/b/gpu.py"), Value::Null);
        let told = editor.told("window/showMessage");
        assert!(
            told["message"]
                .as_str()
                .unwrap()
                .contains("save pkg/use.py first")
        );
        // What is no module is nobody's business.
        assert_eq!(editor.rename("README.md", "READ.md"), Value::Null);
        let outside = json!([{ "oldUri": "file:///etc/passwd", "newUri": "file:///etc/x" }]);
        let params = json!({ "files": outside });
        assert_eq!(
            editor.ask("workspace/willRenameFiles", params),
            Ok(Value::Null)
        );
    });
}

#[test]
fn a_folder_that_is_renamed_takes_its_package_along() {
    edit(json!({ "documentChanges": true }), |editor| {
        let edit = editor.rename("pkg/a", "pkg/c");
        let changes = edit["documentChanges"].to_string();
        assert!(changes.contains("from pkg.c.gpu import alloc"), "{changes}");
    });
}

#[test]
fn a_move_is_refused_while_a_buffer_is_unsaved_and_taken_back_afterwards() {
    edit(json!({}), |editor| {
        let argument = json!({ "from": "pkg.a.gpu.alloc", "to": "pkg.b.pool.alloc" });
        editor.open("pkg/other.py", "alloc  # not saved\n");
        let error = editor.run("coalesce.move", argument.clone()).unwrap_err();
        assert!(error.contains("-32803: save pkg/other.py first"), "{error}");
        editor.open("pkg/other.py", FILES[5].1);
        let done = editor.run("coalesce.move", argument).unwrap();
        assert!(
            editor
                .read("pkg/use.py")
                .starts_with("from pkg.b.pool import alloc\n")
        );
        let told = editor.told("window/showMessage");
        let told = told["message"].as_str().unwrap();
        assert!(told.contains("the editor's own undo does not"), "{told}");
        // The buffer of a file that was changed now differs from it.
        let undo = json!({ "id": done["migration"] });
        let error = editor.run("coalesce.rollback", undo.clone()).unwrap_err();
        assert!(error.contains("save pkg/other.py first"), "{error}");
        editor.open("pkg/other.py", &editor.read("pkg/other.py"));
        editor.run("coalesce.rollback", undo).unwrap();
        for (path, text) in FILES {
            assert_eq!(editor.read(path), *text, "{path}");
        }
    });
}

#[test]
fn the_action_asks_where_to() {
    edit(json!({}), |editor| {
        editor.open("pkg/a/gpu.py", FILES[2].1);
        let uri = editor.uri("pkg/a/gpu.py");
        let place = json!({ "line": 3, "character": 5 });
        let params = json!({
            "textDocument": { "uri": uri },
            "range": { "start": place, "end": place },
            "context": { "diagnostics": [] },
        });
        let actions = editor.ask("textDocument/codeAction", params).unwrap();
        assert_eq!(actions[0]["title"], "Move `alloc` to …");
        let command = &actions[0]["command"];
        assert_eq!(command["command"], "coalesce.moveHere");
        let params = json!({ "command": command["command"], "arguments": command["arguments"] });
        editor.send(Request::new(
            RequestId::from(99),
            "workspace/executeCommand".to_owned(),
            params,
        ));
        let question = loop {
            match editor.next() {
                Message::Request(request) => break request,
                Message::Notification(notification) => editor.told.push(notification),
                Message::Response(response) => panic!("{response:?}"),
            }
        };
        assert_eq!(question.method, "window/showMessageRequest");
        let offered = question.params["actions"].to_string();
        assert!(offered.contains("pkg.b.alloc"), "{offered}");
        let answer = json!({ "title": "pkg.b.alloc" });
        editor.send(Response::new_ok(question.id, answer));
        while !matches!(editor.next(), Message::Response(_)) {}
        editor.told("window/showMessage");
        assert!(
            editor
                .read("pkg/use.py")
                .starts_with("from pkg.b import alloc\n")
        );
    });
}

#[test]
fn what_makes_no_sense_is_an_error_and_the_session_goes_on() {
    edit(json!({}), |editor| {
        for (method, params, code) in [
            ("textDocument/hover", json!({}), "-32601"),
            ("textDocument/references", json!({}), "-32602"),
            (
                "textDocument/references",
                editor.at("pkg/use.py", 999, 0),
                "-32602",
            ),
            (
                "textDocument/references",
                editor.at("../x.py", 0, 0),
                "-32602",
            ),
            (
                "textDocument/references",
                editor.at("none.py", 0, 0),
                "-32803",
            ),
            (
                "workspace/executeCommand",
                json!({ "command": "rm" }),
                "-32602",
            ),
        ] {
            let error = editor.ask(method, params).unwrap_err();
            assert!(error.starts_with(code), "{method}: {error}");
        }
        for argument in [
            json!({ "from": "pkg.a.gpu\"\nx = 1", "to": "pkg.c" }),
            json!({ "from": "pkg.a.gpu" }),
            json!({ "from": "pkg.a.gpu", "to": "pkg.c", "verify": true }),
        ] {
            let error = editor.run("coalesce.move", argument).unwrap_err();
            assert!(error.starts_with("-32602"), "{error}");
        }
        let argument = json!({ "from": "pkg.nothing", "to": "pkg.c" });
        let error = editor.run("coalesce.move", argument).unwrap_err();
        assert!(error.starts_with("-32803"), "{error}");
    });
}
