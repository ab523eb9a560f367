//! Trees to arrays and back, of texts of both languages, of this repository's own sources, and at random.
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{fs, path::Path};

use gpu_ast::{
    AstError, AstNode, AstTensors, KINDS, NONE, SourceLanguage, kind_histogram, kind_name,
    subtree_hashes,
};

const PYTHON: &str = "\u{feff}# ä comment\n@cache\ndef area(r: float = 1.0, *rest, **more) -> float:\n    \
    \"\"\"Dökümentation.\"\"\"\n    if r > 0 and rest:\n        return f\"{r!r:>{8}}\" + 'a' 'b'\n    \
    return [x for x in more if x] or {**more}\n\n\nmatch area(2):\n    case {'a': [1, *_]} | None:\n        pass\n";
const RUST: &str = "#!/usr/bin/env shebang\n//! Dökümentation.\nuse std::{fmt, io as other};\n\n/// Ä type.\n#[derive(Debug)]\n\
    pub struct Wide<T: Clone + 'static>\nwhere\n    T: fmt::Debug,\n{\n    field: Vec<T>,\n}\n\n\
    fn f<'a, T>(x: &'a [T]) -> impl Iterator<Item = u8> + 'a\nwhere\n    T: Copy,\n{\n    \
    let closure = |a: u8| -a as i8; // ä\n    println!(\"{}\", x.len() + 1);\n    match x { [] => 0..1, [_, ..] => 1..2 }\n}\n";

fn parse(text: &str, language: SourceLanguage) -> AstTensors {
    let tensors = AstTensors::parse(text, language).unwrap();
    tensors.validate().unwrap();
    assert_eq!(tensors.range(0), Some(0..text.len()));
    for node in 0..tensors.len() {
        let bytes = tensors.range(node).unwrap();
        assert!(text.get(bytes).is_some(), "node {node} cuts a letter");
        assert!(kind_name(tensors.kinds[node]).is_some());
    }
    tensors
}

/// The text of the first node of a kind.
fn first<'t>(text: &'t str, tensors: &AstTensors, kind: &str) -> &'t str {
    let place = tensors
        .kinds
        .iter()
        .position(|found| kind_name(*found) == Some(kind));
    &text[tensors.range(place.expect(kind)).unwrap()]
}

#[test]
fn ranges_give_the_file_s_bytes() {
    let tensors = parse(PYTHON, SourceLanguage::Python);
    for (kind, text) in [
        ("Decorator", "@cache"),
        ("Parameters", "(r: float = 1.0, *rest, **more)"),
        ("ExprStringLiteral", "\"\"\"Dökümentation.\"\"\""),
        ("ExprCompare", "r > 0"),
        ("ExprListComp", "[x for x in more if x]"),
        ("PatternMatchMapping", "{'a': [1, *_]}"),
    ] {
        assert_eq!(first(PYTHON, &tensors, kind), text);
    }
    let tensors = parse(RUST, SourceLanguage::Rust);
    for (kind, text) in [
        ("UseGroup", "{fmt, io as other}"),
        ("UseRename", "io as other"),
        ("WhereClause", "where\n    T: fmt::Debug,"),
        ("ExprClosure", "|a: u8| -a as i8"),
        ("ExprUnary", "-a"),
        ("TypeImplTrait", "impl Iterator<Item = u8> + 'a"),
        ("Macro", "println!(\"{}\", x.len() + 1)"),
        ("PatSlice", "[]"),
        ("ExprRange", "0..1"),
    ] {
        assert_eq!(first(RUST, &tensors, kind), text);
    }
}

#[test]
fn children_stand_in_the_order_of_the_text() {
    for (text, language) in [
        (PYTHON, SourceLanguage::Python),
        (RUST, SourceLanguage::Rust),
    ] {
        let tensors = parse(text, language);
        for node in 0..tensors.len() {
            let starts: Vec<_> = tensors
                .children(node)
                .map(|child| tensors.starts[child])
                .collect();
            assert!(starts.is_sorted(), "{starts:?}");
        }
    }
}

fn there_and_back(tensors: &AstTensors) {
    let tree = tensors.to_tree().unwrap();
    let again = AstTensors::from_tree(&tree).unwrap();
    assert_eq!(&again, tensors);
    assert_eq!(again.to_tree().unwrap(), tree);
    assert_eq!(
        &AstTensors::from_words(&tensors.to_words()).unwrap(),
        tensors
    );
}

#[test]
fn a_tree_to_arrays_and_back_is_equal() {
    there_and_back(&parse(PYTHON, SourceLanguage::Python));
    there_and_back(&parse(RUST, SourceLanguage::Rust));
    there_and_back(&parse("", SourceLanguage::Python));
    there_and_back(&parse("", SourceLanguage::Rust));
}

/// A tree of so many levels at most, with numbers that look random.
fn random(next: &mut impl FnMut(u32) -> u32, levels: u32, (start, end): (u32, u32)) -> AstNode {
    let mut node = AstNode::new(next(KINDS), (start, end));
    node.token_hash = [next(9), next(9)];
    let mut at = start;
    while levels > 0 && at < end && next(3) > 0 {
        let from = at + next(end - at);
        at = from + next(end - from + 1);
        node.children.push(random(next, levels - 1, (from, at)));
    }
    node
}

#[test]
fn random_trees_to_arrays_and_back_are_equal() {
    let mut seed = 7_u32;
    let mut next = move |below: u32| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed % below.max(1)
    };
    for _ in 0..500 {
        let tree = random(&mut next, 7, (0, 1_000));
        let tensors = AstTensors::from_tree(&tree).unwrap();
        assert_eq!(tensors.to_tree().unwrap(), tree);
        there_and_back(&tensors);
    }
}

#[test]
fn a_tree_may_be_as_deep_as_it_likes() {
    let mut deep = AstNode::default();
    for _ in 0..200_000 {
        let mut around = AstNode::default();
        around.children.push(deep);
        deep = around;
    }
    let tensors = AstTensors::from_tree(&deep).unwrap();
    assert_eq!(tensors.to_tree().unwrap().children.len(), 1);
    assert_eq!(subtree_hashes(&tensors).len(), 200_001);
}

#[test]
fn what_is_no_tree_is_refused() {
    let tensors = parse(PYTHON, SourceLanguage::Python);
    let words = tensors.to_words();
    assert!(AstTensors::from_words(&[]).is_err());
    assert!(AstTensors::from_words(&words[1..]).is_err());
    // Any word changed is no tree, or another one; the last of the head means nothing.
    for at in (0..words.len()).filter(|at| *at != 3) {
        for value in [0, 1, NONE, words[at] ^ 1] {
            let mut changed = words.clone();
            changed[at] = value;
            if let Ok(other) = AstTensors::from_words(&changed) {
                assert_eq!(other.to_words().len(), words.len());
                assert_eq!(other == tensors, changed == words, "word {at}");
            }
        }
    }
}

#[test]
fn equal_text_laid_out_otherwise_has_an_equal_hash() {
    let hash = |text: &str, language| subtree_hashes(&parse(text, language))[0];
    let python = |text| hash(text, SourceLanguage::Python);
    assert_eq!(python("x = f( 1,2 ) # one\n"), python("x=f(1,\n  2)\n"));
    for other in [
        "x = f(1, 3)",
        "y = f(1, 2)",
        "x += f(1, 2)",
        "x = f(1)",
        "x = f(2, 1)",
        "x = 1, 2",
    ] {
        assert_ne!(python("x = f(1, 2)"), python(other), "{other}");
    }
    let rust = |text| hash(text, SourceLanguage::Rust);
    assert_eq!(
        rust("fn f() { g(1 + 2) } // a"),
        rust("fn f(){\n    g(1+2)\n}")
    );
    for other in [
        "fn f() { g(1 - 2) }",
        "fn f() { g(2 + 1) }",
        "fn f() { g!(1 + 2) }",
        "fn f() { g(1 + 2); }",
    ] {
        assert_ne!(rust("fn f() { g(1 + 2) }"), rust(other), "{other}");
    }
}

#[test]
fn syntax_errors_and_depth_are_told_with_their_line() {
    for (text, language, line) in [
        ("x = 1\ny = = 2\n", SourceLanguage::Python, 2),
        ("fn f() {}\nfn {}\n", SourceLanguage::Rust, 2),
        ("fn f() {}\n\n\"\n", SourceLanguage::Rust, 3),
    ] {
        let error = AstTensors::parse(text, language).unwrap_err();
        assert!(
            matches!(error, AstError::Syntax { line: at, .. } if at == line),
            "{error}"
        );
    }
    let deep = format!("x = 1\n{}", "(".repeat(100_000));
    for language in [SourceLanguage::Python, SourceLanguage::Rust] {
        let error = AstTensors::parse(&deep, language).unwrap_err();
        assert!(matches!(error, AstError::TooDeep { line: 2 }), "{error}");
    }
    // As deep as is let through, on a stack that has room for it.
    let fine = format!("x = {}1", "-".repeat(9_000));
    parse(&fine, SourceLanguage::Python);
    let fine = format!("const X: bool = {}true;", "!".repeat(9_000));
    parse(&fine, SourceLanguage::Rust);
}

#[test]
fn the_sources_of_this_crate_go_there_and_back() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut nodes = 0;
    let files = fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let text = fs::read_to_string(file).unwrap();
        let tensors = parse(&text, SourceLanguage::Rust);
        nodes += tensors.len();
        there_and_back(&tensors);
        let counted: u32 = kind_histogram(&tensors).iter().sum();
        assert_eq!(counted as usize, tensors.len());
    }
    assert!(nodes > 5_000, "{nodes}");
}

/// A tree that is one, or a reason with a line of the text.
fn tree_or_reason(text: &str, language: SourceLanguage) -> Option<AstTensors> {
    let told = AstTensors::parse(text, language);
    let line = match told {
        Ok(_) => return Some(parse(text, language)),
        Err(AstError::Syntax { line, .. } | AstError::TooDeep { line }) => line,
        Err(_) => 0,
    };
    let lines = text.split('\n').count();
    assert!(
        (1..=lines).contains(&line),
        "line {line} of {lines}: {told:?}"
    );
    None
}

#[test]
fn odd_files_have_a_tree_or_a_reason() {
    let long = |part: &str| part.repeat((1 << 18) / part.len());
    let mut texts: Vec<String> = [
        "",
        "\u{feff}",
        "\u{feff}\u{feff}",
        "\u{feff}#!/bin/sh",
        "#!/bin/sh\r\n",
        "#!",
        "#![allow(x)]",
        "#! [allow(x)]\n",
        "#!/x\n#![allow(x)]\n",
        "# comment",
        "// comment",
        "//! documentation",
        "/// of nothing",
        "/* /* */",
        "/***/ /**/ /* ä */",
        "\0",
        "\r",
        "\r\r\n\n",
        "\u{c}\u{b}\t ",
        "\u{2028}\u{85}\u{200e}",
        "'",
        "\"",
        "b'",
        "r#\"",
        "'\\",
        "x = '\\\r\n'",
        "\\",
        "fn f() { 'a' ; 'ä' ; b'\\'' ; '\\u{e4}' ; 1e5_f64 ; 1. ; 1..2 ; 0xe+1 ; x.0.1 ; r#type }",
        "def f():\r\treturn 1\r",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend(
        [
            "(", ")", "[", "()", "[]\n", "{}", "();\n", "\"", "'", "\\", "/*", "-", "\u{feff}",
            "\r", "ä\n", "#",
        ]
        .map(long),
    );
    for text in &texts {
        for language in [SourceLanguage::Python, SourceLanguage::Rust] {
            tree_or_reason(text, language);
        }
    }
}

/// Lines that end as Windows ends them have the same nodes, of the same text but for that.
#[test]
fn ends_of_lines_change_no_tree() {
    for (text, language) in [
        (PYTHON, SourceLanguage::Python),
        (RUST, SourceLanguage::Rust),
    ] {
        let windows = text.replace('\n', "\r\n");
        let (one, other) = (parse(text, language), parse(&windows, language));
        assert_eq!((&one.kinds, &one.parents), (&other.kinds, &other.parents));
        for node in 0..one.len() {
            let there = &windows[other.range(node).unwrap()];
            let here = &text[one.range(node).unwrap()];
            assert_eq!(there.replace("\r\n", "\n").trim_end_matches('\r'), here);
        }
    }
}
