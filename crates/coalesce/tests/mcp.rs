//! `coalesce mcp` on a tree: the program as an agent starts it.
#![cfg(feature = "mcp")]
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    ("pkg/__init__.py", ""),
    ("pkg/gpu.py", "def alloc(size):\n    return size\n"),
    ("pkg/use.py", "from pkg.gpu import alloc\n\ny = alloc(1)\n"),
    (
        "pyproject.toml",
        "[project]\nname = \"pkg\"\nversion = \"1\"\n",
    ),
];

fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// The results of calls, in order.
fn results(root: &Path, calls: &[(&str, Value)]) -> Vec<Value> {
    let mut lines = vec![json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {} },
    })];
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        lines.push(json!({
            "jsonrpc": "2.0", "id": at + 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        }));
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_coalesce"))
        .args(["mcp", "--root"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers = answers.lines().skip(1);
    answers
        .map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            let result = answer.pointer("/result").cloned();
            result.unwrap_or(answer)
        })
        .collect()
}

fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

#[test]
fn a_migration_from_the_question_to_the_way_back() {
    let root = tree();
    let manifest = "schema = 1\n\n[[move]]\nfrom = \"pkg.gpu\"\nto = \"pkg.memory\"\n";
    let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
    let told = results(
        root.path(),
        &[
            ("refs", json!({ "name": "pkg.gpu.alloc" })),
            ("audit", json!({ "limit": 1 })),
            ("plan", json!({ "manifest": manifest })),
            ("migrate", json!({ "manifest": manifest })),
        ],
    );
    assert_eq!(
        at(&told[0], "/structuredContent/references/0/path"),
        "pkg/use.py"
    );
    assert_eq!(at(&told[1], "/structuredContent/left_out/modules"), 2);
    assert_eq!(at(&told[2], "/structuredContent/command"), "plan");
    assert_eq!(at(&told[3], "/structuredContent/command"), "migrate");
    assert_eq!(at(&told[3], "/structuredContent/applied"), false);
    assert_eq!(
        read("pkg/use.py"),
        FILES[2].1,
        "nothing is written unless it is asked for"
    );
    let told = results(
        root.path(),
        &[
            ("migrate", json!({ "manifest": manifest, "apply": true })),
            ("rollback", json!({})),
        ],
    );
    assert_eq!(
        at(&told[0], "/structuredContent/applied"),
        true,
        "{}",
        told[0]
    );
    assert_eq!(at(&told[1], "/isError"), false);
    for (path, text) in FILES {
        assert_eq!(read(path), *text, "{path}");
    }
}

#[test]
fn what_exists_already_is_found_by_its_code_and_its_name() {
    let root = tree();
    let body = "    total = 0\n    for value in values:\n        if value > 0:\n            \
                total += value * 2\n        else:\n            total -= value\n    return total\n";
    let text = format!("def weigh(values):\n{body}");
    fs::write(root.path().join("pkg/weigh.py"), text).unwrap();
    let again = format!("def heft(values):\n{body}");
    let told = results(
        root.path(),
        &[
            (
                "exists_already",
                json!({ "snippet": again, "language": "python" }),
            ),
            ("exists_already", json!({ "signature": "weigh" })),
            ("exists_already", json!({})),
            (
                "exists_already",
                json!({ "snippet": "x", "signature": "y" }),
            ),
        ],
    );
    for found in &told[..2] {
        let path = at(found, "/structuredContent/existing/0/path");
        assert_eq!(path, "pkg/weigh.py", "{found}");
    }
    for refused in &told[2..] {
        assert_eq!(at(refused, "/isError"), true, "{refused}");
    }
}

#[test]
fn what_the_program_refuses_an_agent_is_refused() {
    let root = tree();
    let manifest = "schema = 1\n\n[[move]]\nfrom = \"pkg.gpu\"\nto = \"pkg.use\"\n";
    let told = results(
        root.path(),
        &[
            ("migrate", json!({ "manifest": manifest, "apply": true })),
            ("migrate", json!({ "manifest": manifest, "verify": true })),
            ("refs", json!({ "name": "pkg.no" })),
            ("plan", json!({ "manifests": ["../../etc/passwd"] })),
            ("plan", json!({ "manifests": ["/etc/passwd"] })),
            ("plan", json!({ "manifest": "not toml" })),
            ("rollback", json!({ "id": "../../x" })),
        ],
    );
    assert_eq!(told.len(), 7);
    for result in &told {
        assert_eq!(at(result, "/isError"), true, "{result}");
        assert!(
            at(result, "/structuredContent/error/message").is_string(),
            "{result}"
        );
    }
}
