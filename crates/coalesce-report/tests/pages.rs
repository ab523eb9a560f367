//! Pages made from envelopes that are written by hand, held against snapshots.

use coalesce_model::{
    ByteSpan, Certainty, Evidence, Form, Guard, LanguageKind, ModuleKind, Root, Safety, Severity,
    TreePath, UnprovenKind,
    envelope::{
        Answer, Audit, Body, ChangedSignature, Check, CheckRun, Command, CommitEntry, Committed,
        CycleCounts, CycleEntry, CycleStep, DifferenceAspect, DifferenceEntry, DuplicateEntry,
        DuplicateKind, DuplicateMember, Envelope, ErrorEntry, ErrorKind, ErrorPlace, FailureCause,
        Files, FindingEntry, GpuLines, Grade, GuardedImport, ImportOutcome, LostName,
        ManifestEntry, ManifestLine, Migrate, MigrationEntry, ModuleEntry, NotRewrittenEntry,
        OperationEntry, OperationKind, Plan, Range, Recover, RecoverOutcome, ReferenceEntry, Refs,
        Retire, RetiredShim, RewriteEntry, RoleCount, RoleEntry, Rollback, Share, ShimEntry,
        SkippedFile, State, Status, StubEntry, StubKind, TreeState, UnprovenCount, UnprovenEntry,
        UnusedImport, Verify, VerifyFailure,
    },
    finding::codes,
};
use coalesce_report::{
    Options,
    diff::{Side, file_diff},
    error_page, json, page,
};

fn path(text: &str) -> TreePath {
    TreePath::new(text).expect("a path of a tree")
}

fn range(line: u32, column: u32) -> Range {
    let span = ByteSpan::new(10, 14);
    Range {
        start: span.start,
        end: span.end,
        line,
        column,
    }
}

fn files() -> Files {
    let skipped = SkippedFile {
        path: "data/raw.py".into(),
        reason: "not UTF-8".into(),
    };
    Files {
        read: 12,
        skipped: vec![skipped],
        incomplete: Vec::new(),
    }
}

fn finding(code: coalesce_model::Code, severity: Severity, path: &str) -> FindingEntry {
    FindingEntry {
        code,
        severity,
        path: path.into(),
        range: Some(range(3, 1)),
        message: "`lidar.core.gpuu` is not there".into(),
        help: Some("did you mean `lidar.core.gpu`?".into()),
        excerpt: None,
        changed: None,
    }
}

fn module(name: &str, kind: ModuleKind, importers: &[&str]) -> ModuleEntry {
    ModuleEntry {
        name: name.into(),
        path: path(&format!("{}.py", name.replace('.', "/"))),
        language: LanguageKind::Python,
        kind,
        lines: 3,
        defines: Vec::new(),
        exports: Vec::new(),
        importers: importers
            .iter()
            .map(|&importer| importer.to_owned())
            .collect(),
    }
}

fn step(from: &str, to: &str, line: u32, eager: bool) -> CycleStep {
    let file = path(&format!("{}.py", from.replace('.', "/")));
    CycleStep {
        from: from.into(),
        to: to.into(),
        path: file,
        line,
        eager,
    }
}

fn audit() -> Envelope {
    let guarded = |outcome, name: &str| GuardedImport {
        path: path("lidar/features.py"),
        range: Some(range(12, 10)),
        importer: "lidar.features".into(),
        name: name.into(),
        outcome,
        guard: Guard::ImportError,
    };
    let cycle = |eager| CycleEntry {
        modules: vec!["lidar.a".into(), "lidar.b".into()],
        eager,
        shortest: vec![
            step("lidar.a", "lidar.b", 2, true),
            step("lidar.b", "lidar.a", 7, eager),
        ],
    };
    let body = Audit {
        files: files(),
        modules: vec![
            module("lidar.a", ModuleKind::Module, &["lidar.b"]),
            module("lidar.gpu_memory", ModuleKind::Stub, &[]),
            module(
                "lidar.gpu",
                ModuleKind::Redirect,
                &["a", "b", "c", "d", "e"],
            ),
        ],
        cycles: vec![cycle(true), cycle(false)],
        guarded_imports: vec![
            guarded(ImportOutcome::Unresolved, "lidar.gpu_old.AVAILABLE"),
            guarded(ImportOutcome::External, "cupy"),
        ],
        duplicates: vec![duplicate()],
        stubs: vec![StubEntry {
            module: "lidar.forward".into(),
            path: path("lidar/forward.py"),
            language: LanguageKind::Python,
            kind: StubKind::Forwarder,
            importers: Vec::new(),
        }],
        roles: vec![role()],
        gpu_lines: GpuLines {
            total: 120,
            duplicate: 30,
        },
        ..Audit::default()
    };
    let mut envelope = Envelope::new("sample", Command::Audit, Body::Audit(body));
    envelope.findings = vec![
        finding(codes::ORPHAN_FILE, Severity::Warning, "src/old.rs"),
        finding(codes::UNRESOLVED_IMPORT, Severity::Error, "lidar/a.py"),
        finding(codes::EMPTY_STUB, Severity::Warning, "lidar/gpu_memory.py"),
    ];
    envelope.roots = vec![Root {
        language: LanguageKind::Python,
        path: TreePath::root(),
        name: String::new(),
        kind: "import-root".into(),
        reason: "declared by [tool.setuptools] in pyproject.toml".into(),
    }];
    envelope
}

fn role() -> RoleEntry {
    RoleEntry {
        path: path("lidar/core/gpu.py"),
        module: "lidar.core.gpu".into(),
        language: LanguageKind::Python,
        packages: vec!["cupy".into()],
        roles: vec![RoleCount {
            role: "detect".into(),
            count: 2,
            line: 7,
        }],
    }
}

fn duplicate() -> DuplicateEntry {
    let member = |file: &str, first| DuplicateMember {
        path: path(file),
        item: "to_cpu".into(),
        lines: [first, first + 8],
        changed: None,
        uncommitted: false,
    };
    DuplicateEntry {
        id: "function-0123456789".into(),
        kind: DuplicateKind::Function,
        language: LanguageKind::Python,
        members: vec![member("lidar/a.py", 3), member("lidar/b.py", 40)],
        similarity: Share::new(0.875),
        likelihood: Some(Share::new(0.93)),
        merging: Some(Share::new(0.81)),
        removable_lines: 9,
        differences: vec![DifferenceEntry {
            member: 1,
            aspect: DifferenceAspect::Constant,
            line: 42,
            text: "if count > 1_000_000:".into(),
        }],
        home: None,
        title: None,
        chapter: "product".into(),
        inside: None,
        new: None,
    }
}

fn operation(operation: OperationKind, path: &TreePath, to: Option<&TreePath>) -> OperationEntry {
    OperationEntry {
        operation,
        path: path.clone(),
        to: to.cloned(),
        reason: None,
    }
}

/// What the plan's edit and move are as a diff.
fn plan_diff(user: &TreePath, old: &TreePath, new: &TreePath) -> String {
    let side = |path, text| {
        Some(Side {
            path,
            text: Some(text),
        })
    };
    let (text, edited) = (
        "from lidar.gpu import x\n",
        "from lidar.core.gpu import x\n",
    );
    file_diff(side(old, "x = 1\n"), side(new, "x = 1\n"))
        + &file_diff(side(user, text), side(user, edited))
}

fn plan() -> Plan {
    let (old, new) = (path("lidar/gpu.py"), path("lidar/core/gpu.py"));
    let user = path("lidar/a.py");
    Plan {
        files: files(),
        manifests: vec!["0001-gpu".into()],
        operations: vec![
            operation(OperationKind::Edit, &user, None),
            operation(OperationKind::Move, &old, Some(&new)),
        ],
        rewrites: vec![RewriteEntry {
            path: user.clone(),
            range: Some(range(1, 6)),
            form: Form::ImportFrom,
            evidence: Evidence::Resolved,
            from: "lidar.gpu".into(),
            to: "lidar.core.gpu".into(),
            reason: "the module moves".into(),
            safety: Safety::NeedsReview,
        }],
        not_rewritten: vec![NotRewrittenEntry {
            path: path("ci/run.sh"),
            range: Some(range(4, 2)),
            form: Form::FilePath,
            name: "lidar/gpu.py".into(),
            why: "a path in a shell script".into(),
        }],
        unproven: vec![UnprovenEntry {
            path: path("tests/test_a.py"),
            range: Some(range(9, 5)),
            kind: UnprovenKind::Patch,
            name: "lidar.gpu.x".into(),
            why: "nobody can tell who reads it".into(),
        }],
        lost_names: vec![LostName {
            name: "lidar.gpu.y".into(),
            instead: None,
            shim_keeps: false,
        }],
        changed_signatures: vec![ChangedSignature {
            name: "lidar.gpu.f".into(),
            now: "lidar.core.gpu.f".into(),
            before: "(x)".into(),
            after: "(x, y)".into(),
        }],
        cycles_before: CycleCounts { eager: 2, lazy: 1 },
        cycles_after: CycleCounts { eager: 2, lazy: 0 },
        answer: Answer {
            grade: Some(Grade::NotProven),
            message: "1 place that reading cannot tell (1 patch); the rest resolves".into(),
            unproven: vec![UnprovenCount {
                kind: UnprovenKind::Patch,
                places: 1,
            }],
            ..Answer::default()
        },
        diff: plan_diff(&user, &old, &new),
        saved: Some("plan.json".into()),
    }
}

fn status() -> Status {
    let line = |state, from: &str| ManifestLine {
        verb: "move".into(),
        from: from.into(),
        to: "lidar.core.gpu".into(),
        state,
    };
    Status {
        files: files(),
        manifests: vec![
            ManifestEntry {
                id: "0001-gpu".into(),
                description: "one GPU manager".into(),
                state: State::Partly,
                entries: vec![
                    line(State::Done, "lidar.gpu"),
                    line(State::Open, "lidar.pool"),
                ],
            },
            ManifestEntry {
                id: "0002-io".into(),
                description: String::new(),
                state: State::Done,
                entries: Vec::new(),
            },
        ],
        unfinished: Some(MigrationEntry {
            id: "0003-x".into(),
            files: 4,
        }),
        migrations: vec![MigrationEntry {
            id: "0002-io".into(),
            files: 1,
        }],
        shims: vec![ShimEntry {
            name: "lidar.gpu".into(),
            path: path("lidar/gpu.py"),
            manifest: Some("0001-gpu".into()),
            remove_in: Some("4.0.0".into()),
            users: vec!["tests.test_gpu".into()],
        }],
    }
}

fn verify() -> Verify {
    let run = |state, failed| CheckRun {
        state,
        command: "cargo check --workspace --all-targets".into(),
        judged: 12,
        failed,
        remembered: state == TreeState::Before,
    };
    let failure = |state, line, cause| VerifyFailure {
        code: match state {
            TreeState::ShimsHidden => codes::FAILS_WITHOUT_SHIM,
            _ => codes::NEW_FAILURE,
        },
        state,
        subject: "lib `lidar`".into(),
        message: "error[E0433]: cannot find `gpu`\n  --> src/lib.rs:3:5\n\n\u{1b}[2J".into(),
        path: Some("src/lib.rs".into()),
        line,
        cause,
    };
    let cause = |line, to: &str| FailureCause {
        path: path("src/lib.rs"),
        line,
        from: "lidar::gpu".into(),
        to: to.into(),
        reason: "names what moves".into(),
    };
    let unused = |kept: Option<&str>| UnusedImport {
        path: path("src/lib.rs"),
        line: 2,
        name: "Write as _".into(),
        kept: kept.map(str::to_owned),
    };
    Verify {
        files: files(),
        manifests: vec!["0001-gpu".into()],
        runs: vec![
            run(TreeState::Before, 0),
            run(TreeState::After, 1),
            run(TreeState::ShimsHidden, 2),
        ],
        failures: vec![
            failure(
                TreeState::After,
                Some(3),
                Some(cause(3, "lidar::core::gpu")),
            ),
            failure(
                TreeState::ShimsHidden,
                Some(9),
                Some(cause(9, "lidar::gpu")),
            ),
            failure(TreeState::After, None, Some(cause(0, "lidar::core::gpu"))),
            failure(TreeState::After, None, None),
        ],
        unused_imports: vec![unused(None), unused(Some("the check fails without it"))],
        failing_before: 2,
        left_out: vec!["data: it leads out of the tree or is no file".into()],
        passed: false,
        ..Verify::default()
    }
}

fn retire() -> Retire {
    let shim = |name: &str| ShimEntry {
        name: name.into(),
        path: path("lidar/gpu.py"),
        manifest: Some("0001-gpu".into()),
        remove_in: Some("4.0.0".into()),
        users: Vec::new(),
    };
    let reference = ReferenceEntry {
        path: path("lidar/user.py"),
        range: range(3, 1),
        form: Form::Import,
        certainty: Certainty::Exact,
        line_text: "import lidar.gpu".into(),
    };
    Retire {
        plan: plan(),
        shims: vec![
            RetiredShim {
                shim: shim("lidar.pool"),
                goes: true,
                references: Vec::new(),
            },
            RetiredShim {
                shim: shim("lidar.gpu"),
                goes: false,
                references: vec![reference; 8],
            },
        ],
        applied: false,
        migration: None,
        committed: None,
    }
}

fn checked(findings: Vec<FindingEntry>) -> Envelope {
    let body = Check {
        files: files(),
        rules: vec![codes::FORBIDDEN_PATH],
        ..Check::default()
    };
    Envelope {
        findings,
        ..Envelope::new(".", Command::Check, Body::Check(body))
    }
}

fn pages() -> Vec<(&'static str, Envelope)> {
    let mut pages = other_pages();
    pages.extend(migrate_pages());
    pages
}

fn committed() -> Committed {
    let commit = |hash: &str, step: &str, files| CommitEntry {
        hash: hash.repeat(20),
        subject: format!("one home: {step}"),
        files,
    };
    Committed {
        base: "0a".repeat(20),
        commits: vec![commit("1b", "move", 2), commit("2c", "edit the users", 1)],
        notes: vec!["git is configured to sign commits, and these are not signed".into()],
    }
}

fn migrate_pages() -> Vec<(&'static str, Envelope)> {
    let migrate = Migrate {
        plan: plan(),
        applied: true,
        migration: Some("0001-gpu".into()),
        baseline: Some("base.json".into()),
        tests: vec!["tests/test_migration_guard.py".into()],
        verification: None,
        committed: None,
    };
    let refused = Migrate {
        plan: Plan {
            answer: Answer {
                message: "1 reason above; nothing will be written".into(),
                ..Answer::default()
            },
            ..plan()
        },
        ..Migrate::default()
    };
    let envelope = |body| Envelope::new(".", Command::Migrate, Body::Migrate(body));
    let mut not_applied = envelope(refused);
    not_applied.findings = vec![finding(codes::UNSAFE_CHANGE, Severity::Error, "lidar/a.py")];
    let committed = Migrate {
        committed: Some(committed()),
        ..migrate.clone()
    };
    vec![
        ("migrate", envelope(migrate)),
        ("migrate-commits", envelope(committed)),
        ("migrate-refused", not_applied),
        ("migrate-nothing", envelope(nothing_to_do())),
    ]
}

fn other_pages() -> Vec<(&'static str, Envelope)> {
    let reference = ReferenceEntry {
        path: path("lidar/a.py"),
        range: range(3, 6),
        form: Form::ImportFrom,
        certainty: Certainty::Ambiguous,
        line_text: "from lidar.core import gpu".into(),
    };
    let refs = Refs {
        files: files(),
        name: "lidar.core.gpu".into(),
        references: vec![reference],
    };
    let rollback = Rollback {
        migration: Some("0001-gpu".into()),
        restored: vec![path("lidar/a.py")],
    };
    let recover = Recover {
        migration: Some("0001-gpu".into()),
        outcome: RecoverOutcome::Undone,
        paths: vec![],
    };
    let found = vec![finding(
        codes::FORBIDDEN_PATH,
        Severity::Error,
        "lidar/\u{1b}[2Jx.py",
    )];
    let envelope = |command, body| Envelope::new(".", command, body);
    vec![
        ("audit", audit()),
        ("refs", envelope(Command::Refs, Body::Refs(refs))),
        ("plan", envelope(Command::Plan, Body::Plan(plan()))),
        (
            "rollback",
            envelope(Command::Rollback, Body::Rollback(rollback)),
        ),
        (
            "recover",
            envelope(Command::Recover, Body::Recover(recover)),
        ),
        ("status", envelope(Command::Status, Body::Status(status()))),
        ("check", checked(found)),
        ("verify", envelope(Command::Verify, Body::Verify(verify()))),
        ("retire", envelope(Command::Retire, Body::Retire(retire()))),
        ("check-clean", checked(Vec::new())),
        (
            "explain",
            coalesce_report::explain::envelope(codes::STALE_GUARD),
        ),
    ]
}

fn nothing_to_do() -> Migrate {
    let answer = Answer {
        grade: Some(Grade::Resolved),
        message: "there is nothing to do".into(),
        ..Answer::default()
    };
    Migrate {
        plan: Plan {
            answer,
            ..Plan::default()
        },
        ..Migrate::default()
    }
}

#[test]
fn each_page_reads_as_it_should() {
    for (name, envelope) in pages() {
        insta::assert_snapshot!(name, page(&envelope, Options::default()));
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    let mut styled = 0;
    for (name, envelope) in pages() {
        let colored = page(
            &envelope,
            Options {
                color: true,
                ..Options::default()
            },
        );
        let plain = page(&envelope, Options::default());
        styled += usize::from(colored != plain);
        assert_eq!(without_colors(&colored), plain, "{name}");
    }
    assert!(styled > pages().len() / 2);
}

fn without_colors(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |out, piece| {
        out + piece.split_once('m').expect("a colour ends with m").1
    })
}

#[test]
fn a_quiet_check_prints_findings_and_nothing_else() {
    let quiet = Options {
        quiet: true,
        ..Options::default()
    };
    assert_eq!(page(&checked(Vec::new()), quiet), "");
}

#[test]
fn long_lists_are_cut_unless_all_is_wanted() {
    let mut envelope = audit();
    if let Body::Audit(body) = &mut envelope.body {
        body.duplicates = vec![duplicate(); 40];
    }
    let shown = |all| {
        let options = Options {
            all,
            ..Options::default()
        };
        let text = page(&envelope, options);
        (text.matches("function-0123456789").count(), text)
    };
    let ((few, cut), (every, whole)) = (shown(false), shown(true));
    assert!(cut.contains(&format!("and {} more (--all)", every - few)));
    assert!(few < every && !whole.contains("(--all)"), "{few} {every}");
}

#[test]
fn what_is_told_first_is_told_at_length_and_of_the_rest_a_line() {
    let mut envelope = audit();
    let in_chapter = |chapter: &str| DuplicateEntry {
        chapter: chapter.into(),
        ..duplicate()
    };
    let mut shown = |chapters: &[&str]| {
        if let Body::Audit(body) = &mut envelope.body {
            body.duplicates = chapters.iter().map(|chapter| in_chapter(chapter)).collect();
        }
        page(&envelope, Options::default())
    };
    let difference = "[constant]";
    assert_eq!(
        shown(&["product", "alike", "tests"])
            .matches(difference)
            .count(),
        1
    );
    assert_eq!(shown(&["alike", "tests"]).matches(difference).count(), 1);
    let tests = shown(&["tests", "vendored"]);
    assert_eq!(tests.matches(difference).count(), 0);
    assert!(
        tests.contains("function-0123456789  87 % alike, 9 lines: lidar/a.py:3, lidar/b.py:40"),
        "{tests}"
    );
}

#[test]
fn the_json_says_which_command_and_has_its_fields_beside_the_common_ones() {
    insta::assert_snapshot!("json", json(&audit()).unwrap());
}

#[test]
fn an_error_points_at_its_place() {
    let error = ErrorEntry {
        kind: ErrorKind::Config,
        message: "unknown key `frm`".into(),
        place: Some(ErrorPlace {
            path: "migrations/0001.toml".into(),
            line: 12,
            column: 2,
            line_text: "\tfrm = \"a.b\"".into(),
            length: 3,
        }),
        hints: vec!["did you mean `from`?".into()],
    };
    insta::assert_snapshot!("error", error_page(&error, Options::default()));
}
