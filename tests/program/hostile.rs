//! Trees that somebody has made to hang, to abort or to fill the memory of whoever reads them, and
//! what could not be read. Every command answers, in time, with a code of ours.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![cfg(unix)]

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use super::interrupted::Scratch;

/// How long any command may take; a build without optimisation takes its time.
const PATIENCE: Duration = Duration::from_secs(90);

/// Runs it, with an end.
fn answers(scratch: &Scratch, call: &str) -> Output {
    let mut child = scratch
        .command(call)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let readers = [
        super::soak::drain(child.stdout.take().unwrap()),
        super::soak::drain(child.stderr.take().unwrap()),
    ];
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{call} did not answer");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let [stdout, stderr] = readers.map(|reader| reader.join().unwrap());
    let said = String::from_utf8_lossy(&stderr).into_owned();
    assert!(
        status.code().is_some_and(|code| code < 4),
        "{call}: {status} {said}"
    );
    assert!(!said.contains("panicked"), "{call}: {said}");
    Output {
        status,
        stdout,
        stderr,
    }
}

fn make_pipe(path: &Path) -> bool {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    let made = Command::new("mkfifo").arg(path).status();
    made.is_ok_and(|status| status.success())
}

#[test]
fn nobody_waits_for_a_pipe_wherever_it_is() {
    for name in [
        "coalesce.toml",
        ".gitignore",
        ".ignore",
        "p/.gitignore",
        "p/user_03.py",
        "p/odd.py",
        "pyproject.toml",
        "rustfmt.toml",
        "m.toml",
        "baseline.json",
        "plan.json",
        ".coalesce/lock",
        ".coalesce/.gitignore",
        ".coalesce/gitignore.new",
        ".coalesce/journal",
        ".coalesce/journal/0001.m.started",
        ".coalesce/journal/0001.m.done",
        ".git",
        ".git/HEAD",
        ".git/config",
        ".git/index",
    ] {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.tree().join("migrations")).unwrap();
        if name.starts_with(".git/") {
            for part in ["objects", "refs/heads"] {
                fs::create_dir_all(scratch.tree().join(".git").join(part)).unwrap();
            }
            fs::write(scratch.tree().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        if !make_pipe(&scratch.tree().join(name)) {
            eprintln!("skipped: there is no mkfifo");
            return;
        }
        for call in [
            "audit",
            "check",
            "check --baseline baseline.json",
            "check --write-baseline baseline.json",
            "status",
            "plan m.toml",
            "plan m.toml --out plan.json",
            "migrate --plan plan.json",
            "migrate m.toml",
            "rollback --yes",
            "recover",
        ] {
            answers(&scratch, call);
        }
    }
}

/// That nothing uses a shim is not known while there is a file that cannot be read and has its name.
#[test]
fn a_shim_stays_while_a_file_that_cannot_be_read_may_use_it() {
    let scratch = Scratch::new();
    let manifest = "schema = 1\n[[move]]\nfrom = \"p.kernels\"\nto = \"p.core\"\nshim = true\n";
    scratch.write("migrations/0001-m.toml", manifest);
    scratch.run("migrate migrations/0001-m.toml --yes", 0);
    let deep = scratch.tree().join("p/deep.py");
    let text = format!("import p\nx = a{}\ny = p.kernels.X\n", ".b".repeat(20_000));
    fs::write(&deep, text).unwrap();
    for call in ["retire --unused", "retire p.kernels"] {
        let said = scratch.run(call, 2);
        assert!(said.contains("p/deep.py"), "{call}: {said}");
    }
    scratch.run("retire p.kernels --even-used", 0);
    fs::write(&deep, format!("x = a{}\n", ".b".repeat(20_000))).unwrap();
    scratch.run("retire --unused", 0);
}

/// A page that says "clean", or counts references, says as well that it does not know all.
#[test]
fn what_does_not_parse_is_counted_by_every_page() {
    let deep = format!(
        "fn u() {{ {}{}; crate::kernels::f() }}\n",
        "(".repeat(3_000),
        ")".repeat(3_000)
    );
    for (broken, file) in [
        (deep.as_str(), "src/user.rs"),
        ("fn u() { crate::kernels::f(\n", "src/user.rs"),
        ("def f(:\n", "p/user.py"),
    ] {
        let scratch = Scratch::new();
        for (name, text) in [
            (
                "Cargo.toml",
                "[package]\nname = \"r\"\nversion = \"0.1.0\"\n",
            ),
            ("src/lib.rs", "pub mod kernels;\nmod user;\n"),
            ("src/kernels.rs", "pub fn f() {}\n"),
            ("src/user.rs", ""),
            ("p/__init__.py", ""),
            (file, broken),
        ] {
            let path = scratch.tree().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for call in ["check", "refs r::kernels::f"] {
            let said = scratch.run(call, 0);
            assert!(said.contains("(1 in part)"), "{call}, {file}: {said}");
        }
        let json = scratch.run("check --format json", 0);
        assert!(json.contains(file), "{json}");
    }
}

#[test]
fn deep_texts_are_told_and_do_not_abort() {
    let times = |text: &str, count: usize| text.repeat(count);
    let rust = [
        format!("fn f() {{ let _ = {}x; }}", times("if ", 1_000)),
        format!("fn f() {{ {}x; }}", times("match ", 30_000)),
        format!("fn f() {{ {}1; }}", times("return ", 5_000)),
        format!("fn f() {{ {}1; }}", times("break ", 5_000)),
        format!("fn f() {{ {}}}", times("while ", 5_000)),
        format!("fn f() {{ {}x in y {{}} }}", times("for ", 5_000)),
        format!("fn f() {{ x{}; }}", times(" as u8", 9_000)),
        format!("fn f() {{ x{}; }}", times(".a()", 9_000)),
        format!("type T = {}u8{};", times("Vec<", 9_000), times(">", 9_000)),
        times("mod m{", 20_000),
        times("use a::{", 20_000),
        format!("use a{};", times("::a", 40_000)),
        times("{[(", 20_000),
    ];
    let python = [
        format!("x = a{}\n", times(".b", 20_000)),
        format!("x = a{}\n", times("()", 20_000)),
        format!("x = a{}\n", times("[0]", 20_000)),
        format!("x = {}1\n", times("lambda: ", 20_000)),
        format!("x = [1{}]\n", times(" for x in y", 20_000)),
        format!("x: \"{}\"\n", times("a[", 20_000)),
        format!("x: 'a{}'\n", times(".b", 20_000)),
        format!("import a{}\n", times(".a", 40_000)),
        format!("from {}a import b\n", times(".", 40_000)),
        format!("x = {}\n", times("f\"{", 5_000)),
        (0..1_000)
            .map(|level| format!("{}if x:\n", times(" ", level)))
            .collect(),
    ];
    let named = |extension: &'static str| move |text| (extension, text);
    let all = rust.into_iter().map(named("rs"));
    for (extension, text) in all.chain(python.into_iter().map(named("py"))) {
        let scratch = Scratch::new();
        fs::write(
            scratch.tree().join("Cargo.toml"),
            "[package]\nname = \"r\"\nversion = \"0.1.0\"\n",
        )
        .unwrap();
        fs::create_dir_all(scratch.tree().join("src")).unwrap();
        fs::write(scratch.tree().join("src/lib.rs"), "").unwrap();
        let name = format!(
            "{}/lib.{extension}",
            if extension == "rs" { "src" } else { "p" }
        );
        fs::write(scratch.tree().join(name), &text).unwrap();
        for call in ["audit", "plan m.toml", "refs p.kernels"] {
            let output = answers(&scratch, call);
            assert!(
                output.status.code() < Some(3),
                "{}",
                text.get(..40).unwrap()
            );
        }
    }
}

/// What nests too deeply to be parsed, and holds the name of what moves, is not passed over.
#[test]
fn an_importer_that_cannot_be_read_refuses_the_plan_or_is_told() {
    let deep = format!("from p.kernels import X\nx = a{}\n", ".b".repeat(20_000));
    let scratch = Scratch::new();
    fs::write(scratch.tree().join("p/deep.py"), deep).unwrap();
    refused_unless_allowed(&scratch, "p/deep.py");
}

#[test]
fn a_link_out_of_the_tree_that_may_import_refuses_the_plan_or_is_told() {
    for (name, directory) in [("p/out.py", false), ("p/out", true)] {
        let scratch = Scratch::new();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("x.py"), "from p.kernels import X\n").unwrap();
        let target = if directory {
            outside.path().to_owned()
        } else {
            outside.path().join("x.py")
        };
        std::os::unix::fs::symlink(target, scratch.tree().join(name)).unwrap();
        refused_unless_allowed(&scratch, name);
    }
    // What is no source may lead anywhere, and what is in the tree is read by its own name.
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("/etc/hosts", scratch.tree().join("hosts.txt")).unwrap();
    std::os::unix::fs::symlink("user_03.py", scratch.tree().join("p/inside.py")).unwrap();
    assert_eq!(answers(&scratch, "plan m.toml").status.code(), Some(0));
}

#[test]
fn a_directory_that_cannot_be_listed_refuses_the_plan_or_is_told() {
    let scratch = Scratch::new();
    // So deep that no system takes its path; each part is made from within the one above.
    let script = "cd p && i=0 && while [ $i -lt 60 ]; do mkdir $0 && cd -P $0 || exit; i=$((i+1)); done; echo 'import p.kernels' > x.py";
    let name = "d".repeat(100);
    let made = Command::new("sh")
        .args(["-c", script, &name])
        .current_dir(scratch.tree())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: the path could not be made");
        return;
    }
    refused_unless_allowed(&scratch, &name);
}

fn refused_unless_allowed(scratch: &Scratch, name: &str) {
    let output = answers(scratch, "plan m.toml");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{page}");
    assert!(
        page.contains(name) && page.contains("--allow-unread"),
        "{page}"
    );
    let output = answers(scratch, "plan m.toml --allow-unread");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{page}");
    assert!(page.contains(name), "{page}");
}

/// A file that ignore rules hide is still a file.
#[test]
fn a_target_that_is_ignored_and_there_is_refused_by_the_plan() {
    let scratch = Scratch::new();
    fs::write(scratch.tree().join(".gitignore"), "core/\n").unwrap();
    fs::create_dir_all(scratch.tree().join("p/core")).unwrap();
    fs::write(scratch.tree().join("p/core/gpu.py"), "mine = 1\n").unwrap();
    let output = answers(&scratch, "plan m.toml");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{page}");
    assert!(page.contains("p/core/gpu.py"), "{page}");
    // A package of that name would hide the module.
    let scratch = Scratch::new();
    fs::write(scratch.tree().join(".gitignore"), "core/\n").unwrap();
    fs::create_dir_all(scratch.tree().join("p/core/gpu")).unwrap();
    fs::write(scratch.tree().join("p/core/gpu/__init__.py"), "").unwrap();
    let output = answers(&scratch, "plan m.toml");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{page}");
    assert!(page.contains("p/core/gpu/__init__.py"), "{page}");
}

/// Three million tokens are a text that no person has written; more would be all of the memory.
#[test]
fn texts_of_too_many_tokens_are_told() {
    for (name, text) in [
        (
            "p/odd.py",
            "from p.kernels import X\n".to_owned() + &";,".repeat(1_600_000),
        ),
        (
            "src/lib.rs",
            "use crate::kernels;".to_owned() + &";,".repeat(1_600_000),
        ),
    ] {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.tree().join("src")).unwrap();
        let manifest = "[package]\nname = \"r\"\nversion = \"0.1.0\"\n";
        fs::write(scratch.tree().join("Cargo.toml"), manifest).unwrap();
        fs::write(scratch.tree().join(name), text).unwrap();
        let output = answers(&scratch, "plan m.toml");
        let page = String::from_utf8_lossy(&output.stdout).into_owned();
        let refused = name.ends_with(".py");
        assert_eq!(
            output.status.code(),
            Some(if refused { 2 } else { 0 }),
            "{page}"
        );
        assert!(page.contains("too long to be parsed") || !refused, "{page}");
    }
}

#[test]
fn a_tree_between_two_states_explains_itself() {
    let cut_off = || {
        let scratch = Scratch::new();
        let before = scratch.files();
        scratch.run("migrate m.toml", 0);
        let journal = scratch.journal();
        fs::rename(&journal, journal.with_extension("started")).unwrap();
        (scratch, before)
    };
    let (scratch, before) = cut_off();
    for call in [
        "plan m.toml",
        "check",
        "verify m.toml",
        "migrate m.toml",
        "retire --unused",
        "rollback --yes",
    ] {
        let said = scratch.run(call, 2);
        assert!(
            said.contains("was cut off") && said.contains("recover"),
            "{call}: {said}"
        );
    }
    for call in [
        "audit",
        "init --out ../cut.toml",
        "refs p.core.gpu",
        "diff p.core.gpu p.user_01",
        "status",
    ] {
        let said = scratch.run(call, 0);
        assert!(
            said.contains("was cut off") && said.contains("recover"),
            "{call}: {said}"
        );
    }
    // Nobody is there to be asked.
    scratch.run("recover", 0);
    assert_eq!(scratch.files(), before);
}

#[test]
fn what_fails_after_the_change_has_a_code_of_its_own() {
    let scratch = Scratch::new();
    let before = scratch.files();
    let said = scratch.run("migrate m.toml --write-baseline no/such/place.json", 3);
    assert!(said.contains("the migration is applied"), "{said}");
    assert_ne!(scratch.files(), before);
    let said = scratch.run("migrate m.toml --write-baseline no/such/place.json", 2);
    assert!(!said.contains("the migration is applied"), "{said}");
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full");
        return;
    }
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for (call, code) in [
        ("rollback --yes", 3),
        ("status", 2),
        ("migrate m.toml", 3),
        ("plan m.toml", 2),
    ] {
        let status = scratch
            .command(call)
            .stdout(full())
            .stderr(Stdio::null())
            .status();
        assert_eq!(status.unwrap().code(), Some(code), "{call}");
    }
}

#[test]
fn migrations_side_by_side_are_told_in_words_for_users() {
    for _ in 0..4 {
        let scratch = Scratch::new();
        let start = |call: &str| {
            let mut command = scratch.command(call);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let calls = [
            "migrate m.toml",
            "migrate m.toml",
            "plan m.toml",
            "status",
            "migrate m.toml",
            "audit",
        ];
        let children = calls.map(start);
        for (call, child) in calls.into_iter().zip(children) {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("internal error"), "{call}: {said}");
            assert!(
                output.status.code().is_some_and(|code| code < 3),
                "{call}: {said}"
            );
        }
    }
}

/// A few files of each other's modules would be any number of modules; bindings times uses would be
/// the square of a file.
#[test]
fn nothing_grows_with_the_square_of_a_tree_or_faster() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.tree().join("src")).unwrap();
    fs::write(
        scratch.tree().join("Cargo.toml"),
        "[package]\nname = \"r\"\nversion = \"0.1.0\"\n",
    )
    .unwrap();
    for file in 0..5 {
        let modules = (0..20).map(|name| format!("#[path = \"f{}.rs\"]\nmod m{name};\n", file + 1));
        let name = if file == 0 {
            "lib.rs".to_owned()
        } else {
            format!("f{file}.rs")
        };
        fs::write(
            scratch.tree().join("src").join(name),
            modules.collect::<String>(),
        )
        .unwrap();
    }
    fs::write(scratch.tree().join("src/f5.rs"), "pub fn f() {}\n").unwrap();
    let lines = format!("from p.kernels import X\n{}", "x = 1\n".repeat(20_000));
    fs::write(scratch.tree().join("p/user_00.py"), lines).unwrap();
    for call in ["audit", "refs p.kernels", "plan m.toml"] {
        let output = answers(&scratch, call);
        assert_eq!(output.status.code(), Some(0), "{call}");
    }
}

/// Star imports of two files of each other have as many ways as any number to the power of a length; a
/// file of types that takes a name from the module that it describes leads back to itself.
#[test]
fn what_leads_round_in_circles_comes_to_an_end() {
    let stars = |other: &str| format!("from p.{other} import *\n").repeat(40);
    let types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .m import x\n";
    let scratch = Scratch::new();
    for (name, text) in [
        ("a.py", stars("b").as_str()),
        ("b.py", stars("a").as_str()),
        ("u.py", "from p.a import missing\nfrom p.kernels import X\n"),
        ("m.py", "y = 1\n"),
        ("m.pyi", "from .m import x\n"),
        ("typed.py", types),
        ("typed.pyi", types),
    ] {
        fs::write(scratch.tree().join("p").join(name), text).unwrap();
    }
    for call in ["check", "audit", "refs p.kernels", "plan m.toml"] {
        let output = answers(&scratch, call);
        assert!(output.status.code() < Some(2), "{call}");
    }
}

/// Each name was looked for through all ways that lead to it.
#[test]
fn hundreds_of_star_imports_of_each_other_are_followed_once() {
    let stars = |other: &str| format!("from p.{other} import *\n").repeat(1_800);
    let scratch = Scratch::new();
    scratch.write("p/a.py", &(stars("b") + "X\nZ\n"));
    scratch.write("p/b.py", &(stars("a") + "X\nZ\n"));
    for call in ["check", "audit", "refs p.kernels", "plan m.toml"] {
        let output = answers(&scratch, call);
        assert!(output.status.code() < Some(2), "{call}");
    }
}

/// One statement any number of times: no look at one of them goes through all of them.
#[test]
fn many_references_of_one_file_are_planned_one_by_one() {
    for line in [
        "x = 'p.kernels.X'\n",
        "# p.kernels.X\n",
        "from . import kernels\n",
        "x: 'p.kernels.X' = 1\n",
        "x = {'a': 'p.kernels:X', 'b': [1, (2, 3)]}\n",
        "importlib.import_module('p.kernels')\n",
        "if x: import p.kernels\n",
        "import p.kernels; p.kernels.X\n",
        "def f():\n    import p.kernels\n    return p.kernels.X\n",
        "def f():\n    from . import kernels\n    return kernels.X\n",
        "from .kernels import *\n",
    ] {
        let scratch = Scratch::new();
        fs::write(scratch.tree().join("p/odd.py"), line.repeat(8_000)).unwrap();
        let output = answers(&scratch, "plan m.toml");
        assert!(output.status.code() < Some(2), "{line}");
    }
}

/// The same for an item that moves: what binds its name is looked up once a name, a file of star
/// imports is read once.
#[test]
fn many_references_to_an_item_are_planned_one_by_one() {
    for line in [
        "try:\n    from p.kernels import X\nexcept ImportError:\n    X = None\n",
        "def f():\n    from p.kernels import X\n    return X\n",
        "from p.kernels import *\n",
        "from .kernels import *\nX\n",
    ] {
        let scratch = Scratch::new();
        fs::write(scratch.tree().join("p/odd.py"), line.repeat(8_000)).unwrap();
        fs::write(scratch.tree().join("p/kernels.py"), "X = 1\n").unwrap();
        fs::write(
            scratch.tree().join("item.toml"),
            "schema = 1\n[[move]]\nfrom = \"p.kernels.X\"\nto = \"p.other.X\"\n",
        )
        .unwrap();
        let output = answers(&scratch, "plan item.toml");
        assert!(output.status.code() < Some(2), "{line}");
    }
}

/// What a module that moves has in it is looked at once a level, not once for each level below.
#[test]
fn modules_a_thousand_deep_are_moved() {
    const DEPTH: usize = 900;
    let scratch = Scratch::new();
    let write = |name: &str, text: &str| {
        let file = scratch.tree().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"q\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    write("src/lib.rs", "pub mod kernels;\n");
    let (open, close) = ("mod m { ".repeat(DEPTH), "}".repeat(DEPTH));
    let text = format!("pub fn f() {{}}\n{open}unsafe fn g() {{}} {close}\n");
    write("src/kernels.rs", &text);
    write(
        "r.toml",
        "schema = 1\n[[move]]\nfrom = \"q::kernels\"\nto = \"q::core\"\n",
    );
    answers(&scratch, "plan r.toml");
}

/// Each level of functions in functions would be compared with all that is below it.
#[test]
fn what_nests_is_compared_so_deep() {
    let nested = |(head, open, close): (&str, &str, &str)| {
        format!("{head}{}{}\n", open.repeat(1_500), close.repeat(1_500)).repeat(8)
    };
    let blocks = (0..90).map(|level| format!("{}def f(a):\n", " ".repeat(level)));
    let blocks = blocks.collect::<String>() + &" ".repeat(90) + "a\n";
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.tree().join("src")).unwrap();
    fs::write(
        scratch.tree().join("Cargo.toml"),
        "[package]\nname = \"q\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    )
    .unwrap();
    let texts = [
        ("", "fn f() { ", "}"),
        ("", "mod m { ", "}"),
        ("", "impl S { fn f() { ", "}}"),
    ];
    fs::write(
        scratch.tree().join("src/lib.rs"),
        texts.map(nested).concat(),
    )
    .unwrap();
    fs::write(scratch.tree().join("p/odd.py"), blocks.repeat(60)).unwrap();
    assert!(answers(&scratch, "audit").status.code() < Some(2));
}

/// What a sparse checkout leaves out is in the repository all the same, and names what moves.
#[test]
fn what_a_sparse_checkout_leaves_out_is_told() {
    let scratch = Scratch::new();
    for (name, text) in [
        ("far/user.py", "from p.kernels import X\n"),
        ("other/none.py", "y = 1\n"),
        ("far/data.txt", "p.kernels\n"),
    ] {
        let file = scratch.tree().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@a"]);
        let output = command.args(words).current_dir(scratch.tree()).output();
        output.is_ok_and(|output| output.status.success())
    };
    let left_out = git(&["init", "-q", "."])
        && git(&["add", "-A"])
        && git(&["commit", "-q", "-m", "all"])
        && git(&["sparse-checkout", "set", "p"]);
    if !left_out || scratch.tree().join("far").exists() {
        println!("skipped: there is no git that leaves something out");
        return;
    }
    let before = scratch.files();
    let said = scratch.run("migrate m.toml", 2);
    assert!(said.contains("far/user.py"), "{said}");
    assert!(said.contains("sparse checkout"), "{said}");
    assert!(
        !said.contains("none.py") && !said.contains("data.txt"),
        "{said}"
    );
    assert_eq!(scratch.files(), before);
    let said = scratch.run("plan m.toml --allow-unread", 0);
    assert!(said.contains("far/user.py"), "{said}");
}

/// A module may be any file: one that is never read may name what moves.
#[test]
fn a_module_that_is_outside_of_the_tree_is_told() {
    let scratch = Scratch::new();
    let tree = scratch.tree();
    let outside = tree.with_file_name("outside.rs");
    let text = "use crate::kernels::f as g;\npub fn h() {\n    g()\n}\n";
    let write = |name: &str, text: &str| {
        let file = tree.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"q\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    write("src/kernels.rs", "pub fn f() {}\n");
    write(
        "r.toml",
        "schema = 1\n[[move]]\nfrom = \"q::kernels\"\nto = \"q::core\"\n",
    );
    fs::write(&outside, text).unwrap();
    write(".git/hooks/pre-commit", text);
    let absolute = outside.to_str().unwrap().to_owned();
    for path in ["../../outside.rs", "../.git/hooks/pre-commit", &absolute] {
        let root = format!("pub mod kernels;\n#[path = \"{path}\"]\npub mod x;\n");
        write("src/lib.rs", &root);
        let before = scratch.files();
        let said = scratch.run("migrate r.toml --allow-dirty", 2);
        assert!(said.contains("may name what moves"), "{path}: {said}");
        assert_eq!(scratch.files(), before);
        let said = scratch.run("plan r.toml --allow-unread", 0);
        assert!(said.contains("may name what moves"), "{path}: {said}");
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), text);
    write(
        "src/lib.rs",
        "pub mod kernels;\n#[path = \"none.rs\"]\npub mod x;\n",
    );
    scratch.run("plan r.toml", 0);
}

/// Whoever clones a tree may have the names of their files taken in it by links that lead anywhere.
#[test]
fn what_is_asked_for_is_not_written_through_a_link_of_the_tree() {
    for call in [
        "plan m.toml --allow-unread --out link",
        "plan m.toml --allow-unread --out linked/plan.json",
        "check --write-baseline link",
        "audit --write-baseline link",
        "audit --html link",
        "migrate m.toml --allow-unread",
    ] {
        let scratch = Scratch::new();
        let outside = scratch.tree().with_file_name("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "mine").unwrap();
        let link = |to: &Path, name: &str| {
            let at = scratch.tree().join(name);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(to, at).unwrap();
        };
        link(&outside.join("precious"), "link");
        link(&outside, "linked");
        link(&outside.join("precious"), ".coalesce/gitignore.new");
        let output = answers(&scratch, call);
        let migrates = call.starts_with("migrate");
        let expected = if migrates { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(expected), "{call}");
        let files = fs::read_dir(&outside).unwrap().count();
        let text = fs::read_to_string(outside.join("precious")).unwrap();
        assert_eq!((files, text.as_str()), (1, "mine"), "{call}");
    }
}
