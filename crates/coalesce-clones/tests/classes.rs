//! Small trees and the classes that they have: what is a copy, what only looks like one.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use coalesce_clones::{Baseline, Options, Report, SourceFile, find};
use coalesce_model::{
    MemoryTexts, Texts as _, envelope::DifferenceAspect, envelope::DuplicateKind,
};
use coalesce_python::Python;
use coalesce_rust::Rust;

fn report(fixture: &str) -> Report {
    let texts = MemoryTexts::fixture(fixture);
    let file = |path: &coalesce_model::TreePath| {
        let text = texts.text(path).unwrap();
        let outlined = match path.extension() {
            Some("py") => SourceFile::outlined(&Python, path, text),
            _ => SourceFile::outlined(&Rust, path, text),
        };
        outlined.unwrap()
    };
    let mut files: Vec<SourceFile> = texts.paths().iter().map(file).collect();
    // Names are rare in a real tree; here others have to make them so.
    for at in 0..60 {
        let path = coalesce_model::TreePath::new(&format!("filler/f{at}.py")).unwrap();
        let text: std::sync::Arc<str> = format!(
            "def filler_{at}(value):\n    step_{at} = first_{at}(value)\n    return last_{at}(step_{at})\n"
        )
        .into();
        files.push(SourceFile::outlined(&Python, &path, text).unwrap());
    }
    find(files, Options::default())
}

/// `kind: path item, path item` for each class.
fn told(report: &Report) -> Vec<String> {
    let class = |class: &coalesce_clones::Duplicate| {
        let members = class.members.iter();
        let members: Vec<String> = members
            .map(|member| format!("{} {}", member.path, member.item))
            .collect();
        format!("{}: {}", class.kind.as_str(), members.join(", "))
    };
    report.duplicates.iter().map(class).collect()
}

const COPY: &str = r"    centroid = points.mean(axis=0)
    centered = points - centroid
    covariance = centered.T @ centered / len(points)
    values, vectors = numpy.linalg.eigh(covariance)
    return vectors[:, 0], values
";

#[test]
fn copies_are_found_and_look_alikes_are_not() {
    let renamed = COPY
        .replace("centroid", "middle")
        .replace("vectors", "axes");
    let other = COPY.replace("numpy.linalg.eigh", "scipy.linalg.svd");
    let cases: [(&str, String, &[&str]); 6] = [
        (
            "renamed variables",
            format!("//- a.py\ndef normals(points):\n{COPY}//- b.py\ndef axes(points):\n{renamed}"),
            &["function: a.py normals, b.py axes"],
        ),
        (
            "a method with another docstring",
            format!(
                "//- a.py\ndef normals(points):\n    \"\"\"One.\"\"\"\n{COPY}//- b.py\nclass B:\n    def normals(self, points):\n        \"\"\"Two.\"\"\"\n{}",
                COPY.replace("    ", "        ")
            ),
            &["function: a.py normals, b.py B.normals"],
        ),
        (
            "wrappers of different methods",
            "//- a.py\ndef compute_width(points):\n    engine = make_engine(fast=True)\n    return engine.compute_width(points)\n\
             def compute_height(points):\n    engine = make_engine(fast=True)\n    return engine.compute_height(points)\n"
                .to_owned(),
            &[],
        ),
        (
            "constructors that keep their arguments",
            "//- a.py\nclass A:\n    def __init__(self, first, second, third):\n        self.first = first\n        self.second = second\n        self.third = third\n\
             //- b.py\nclass B:\n    def __init__(self, first, second, third):\n        self.first = first\n        self.second = second\n        self.third = third\n"
                .to_owned(),
            &[],
        ),
        (
            "declarations and a body",
            "//- a.rs\ntrait T { fn area(&self, width: u32, height: u32) -> u32; }\n\
             //- b.rs\nimpl T for A {\n    fn area(&self, width: u32, height: u32) -> u32 {\n        self.scale.apply(width * height).max(LIMIT)\n    }\n}\n"
                .to_owned(),
            &[],
        ),
        (
            "rust with other variables",
            "//- a.rs\nfn fold(items: &[u64]) -> u64 {\n    let mut total = 0;\n    for item in items {\n        total = total.rotate_left(FOLD_STEP) ^ item.wrapping_mul(FOLD_PRIME);\n    }\n    total\n}\n\
             //- b.rs\nfn mix(values: &[u64]) -> u64 {\n    let mut hash = 0;\n    for value in values {\n        hash = hash.rotate_left(FOLD_STEP) ^ value.wrapping_mul(FOLD_PRIME);\n    }\n    hash\n}\n"
                .to_owned(),
            &["function: a.rs fold, b.rs mix"],
        ),
    ];
    for (name, fixture, expected) in cases {
        assert_eq!(told(&report(&fixture)), expected, "{name}");
    }
    let fixture =
        format!("//- a.py\ndef normals(points):\n{COPY}//- b.py\ndef planes(points):\n{other}");
    assert!(told(&report(&fixture)).len() <= 1);
}

#[test]
fn variants_are_told_when_there_is_something_to_them() {
    let cases: [(&str, String, &[&str]); 2] = [
        (
            "two of one file that differ in what they call once",
            format!(
                "//- a.py\ndef sort_entries(entries, key):\n{0}    sorted_entries = stable_sort(keyed, kind=key)\n{1}\n\n\
                 def sort_entries_unstable(entries, key):\n{0}    sorted_entries = quick_sort(keyed, kind=key)\n{1}",
                "    # Keys are worked out once for each entry.\n    keyed = []\n    for entry in entries:\n        if entry.is_deleted():\n            continue\n        keyed.append((entry.compute_key(), entry))\n",
                "    positions = {}\n    for place, (found_key, entry) in enumerate(sorted_entries):\n        positions.setdefault(found_key, []).append(place)\n        entry.position = place\n    return sorted_entries, positions\n"
            ),
            &["function: a.py sort_entries, a.py sort_entries_unstable"],
        ),
        (
            "two lines that methods of several types have",
            "//- a.rs\nimpl Fence {\n    pub fn export_handle(&self, kind: HandleKind) -> Result<Handle, Failure> {\n        self.check_export(kind)?;\n        Ok(self.export_unchecked(kind)?)\n    }\n}\n\
             //- b.rs\nimpl Semaphore {\n    pub fn export_handle(&self, kind: HandleKind) -> Result<Handle, Failure> {\n        self.check_export(kind)?;\n        Ok(self.export_unchecked(kind)?)\n    }\n}\n"
                .to_owned(),
            &[],
        ),
    ];
    for (name, fixture, expected) in cases {
        assert_eq!(told(&report(&fixture)), expected, "{name}");
    }
}

#[test]
fn what_is_alike_for_a_reason_is_no_copy() {
    let cases = [
        (
            "functions that only hand on what they were given",
            "//- a.rs\nimpl Seek for Locked {\n    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {\n        self.inner.with_mutable_handle(|file| file.seek(position))?;\n    }\n    fn write_object(&self, object: &dyn WriteTo) -> Result<Id> {\n        self.store_behind.deref().write_object_whole(object)\n    }\n}\n\
             //- b.rs\nimpl Write for Boxed {\n    fn write_object(&self, object: &dyn WriteTo) -> Result<Id> {\n        self.store_behind.deref().write_object_whole(object)\n    }\n}\n",
        ),
        (
            "names that are opposites of each other",
            "//- a.py\ndef catch_up_lhs(lhs, queue):\n    for entry in lhs.entries_behind(queue):\n        if entry.is_subtree():\n            queue.schedule_visit(entry.identifier, depth=4)\n        lhs.advance_cursor(entry)\n\
             //- b.py\ndef catch_up_rhs(rhs, queue):\n    for entry in rhs.entries_behind(queue):\n        if entry.is_subtree():\n            queue.schedule_visit(entry.identifier, depth=4)\n            queue.note_as_new(entry)\n        rhs.advance_cursor(entry)\n",
        ),
        (
            "a name that the language gives",
            "//- a.py\nclass A:\n    def __array__(self, dtype=None):\n        if dtype is forbidden_kind:\n            raise CannotConvert(dtype)\n        angle = float(self.params[0])\n        return matrix_of([[exp(angle), 0], [0, 1]], dtype=dtype)\n\
             //- b.py\nclass B:\n    def __array__(self, dtype=None):\n        if dtype is forbidden_kind:\n            raise CannotConvert(dtype)\n        theta, phi, extra = self.params\n        sine = half_sine(theta / 2)\n        cosine = half_cosine(theta / 2)\n        return matrix_of([[cosine, sine], [-sine, cosine * extra]], dtype=dtype, order=phi)\n",
        ),
        (
            "types of one file with the same fields",
            "//- a.py\nclass ListAliasesRequest(ServiceRequest):\n    machine_identifier: Arn\n    next_token: PageToken\n    most_results: PageSize\n\n\nclass ListVersionsRequest(ServiceRequest):\n    machine_identifier: Arn\n    next_token: PageToken\n    most_results: PageSize\n",
        ),
        (
            "types of one name with other fields",
            "//- a.rs\nstruct Entry {\n    pack_identifier: u32,\n    pack_offset: u64,\n    object_data: Vec<u8>,\n    object_kind: ObjectKind,\n    compressed_size: usize,\n}\n\
             //- b.rs\nstruct Entry {\n    object_data: Vec<u8>,\n    object_kind: ObjectKind,\n}\n",
        ),
    ];
    for (name, fixture) in cases {
        assert!(told(&report(fixture)).is_empty(), "{name}");
    }
}

#[test]
fn what_one_copy_does_alone_is_told() {
    let guarded = COPY
        .replace(
            "    centroid =",
            "    if len(points) > 1_000_000:\n        raise TooMany(points)\n    centroid =",
        )
        .replace("/ len(points)", "/ (len(points) - 1)");
    let plain = COPY.replace(
        "    centroid =",
        "    if len(points) > 10_000_000:\n        raise TooMany(points)\n    centroid =",
    );
    let fixture = format!(
        "//- a.py\ndef normals(points):\n{guarded}//- b.py\ndef normals(points, k=3):\n{plain}"
    );
    let report = report(&fixture);
    let class = report.duplicates.first().unwrap();
    let told: Vec<(usize, DifferenceAspect, u32)> = class
        .differences
        .iter()
        .map(|difference| (difference.member, difference.aspect, difference.line))
        .collect();
    assert_eq!(
        told,
        [
            (0, DifferenceAspect::Constant, 2),
            (0, DifferenceAspect::Statement, 6),
            (1, DifferenceAspect::Constant, 2),
            (1, DifferenceAspect::Statement, 6),
            (1, DifferenceAspect::Default, 1),
        ]
    );
}

#[test]
fn guarded_imports_of_one_library_are_an_idiom_whatever_their_text() {
    let report = report(
        "\
//- a.py
try:
    import cupy as cp
    HAS_CUPY = True
except ImportError:
    HAS_CUPY = False
//- b.py
GPU_AVAILABLE = False
try:
    import cupy
    from numpy import array
    GPU_AVAILABLE = True
except (ImportError, RuntimeError) as error:
    log.info(error)
//- c.py
try:
    import yaml
    HAS_YAML = True
except ImportError:
    HAS_YAML = False
",
    );
    let idiom = report.idioms.first().unwrap();
    assert_eq!(idiom.chapter.as_str(), "idioms");
    assert_eq!(idiom.id, "idiom-guarded-import-cupy");
    assert_eq!(idiom.members.len(), 2);
    assert!(
        report
            .duplicates
            .iter()
            .any(|class| class.kind == DuplicateKind::Idiom)
    );
}

#[test]
fn tests_that_call_an_interface_are_no_idiom() {
    let free = "    pool = cupy.get_default_memory_pool()\n    pool.free_all_blocks()\n";
    let fixture = |file: &str| {
        format!(
            "//- {file}\nimport cupy\ndef clear_cache(pool):\n{free}def free_memory(pool):\n{free}"
        )
    };
    assert_eq!(report(&fixture("a.py")).idioms.len(), 1);
    assert!(report(&fixture("tests/test_a.py")).idioms.is_empty());
}

#[test]
fn a_comment_with_a_reason_allows_a_copy() {
    let fixture = format!(
        "//- a.py\ndef normals(points):\n{COPY}//- b.py\n# coalesce: allow(duplicate, runs without numpy)\ndef normals(points):\n{COPY}"
    );
    let report = report(&fixture);
    assert!(told(&report).is_empty());
    assert_eq!(report.allowed, 1);
}

#[test]
fn a_baseline_knows_old_copies_and_sees_new_members() {
    let two =
        format!("//- a.py\ndef normals(points):\n{COPY}//- b.py\ndef normals(points):\n{COPY}");
    let shifted = two.replace("//- a.py\n", "//- a.py\nimport numpy\n\n\n");
    let three = format!("{two}//- c.py\ndef normals(points):\n{COPY}");
    let baseline = Baseline::of(&report(&two).duplicates);
    let baseline = Baseline::parse(&baseline.to_json().unwrap()).unwrap();
    for (name, tree, new) in [
        ("same", &two, false),
        ("shifted", &shifted, false),
        ("more", &three, true),
    ] {
        assert_eq!(baseline.news(&report(tree).duplicates), [new], "{name}");
    }
    let (one, other) = (report(&two), report(&shifted));
    assert_eq!(
        one.duplicates[0].id, other.duplicates[0].id,
        "lines are no part of a name"
    );
    assert!(Baseline::parse("{}").is_err());
}

#[test]
fn a_whole_copy_is_told_once() {
    let module = format!(
        "class A:\n    def normals(self, points):\n{}    def other(self, points):\n        return self.normals(points)[0].astype(numpy.float32).clip(LOW, HIGH)\n",
        COPY.replace("    ", "        ")
    );
    let fixture = format!("//- a.py\n{module}//- b.py\n{module}");
    assert_eq!(told(&report(&fixture)), ["module: a.py , b.py "]);
}

#[test]
fn a_file_and_its_own_tests_are_one_place() {
    let function = |name: &str, number: u32| {
        format!(
            "fn {name}{number}(xs: &[u32], limit: u32) -> Vec<u32> {{\n    let mut out = Vec::new();\n    for (at, x) in xs.iter().enumerate() {{\n        if *x > limit + {number} && at % {number} == 0 {{\n            out.push(x.wrapping_mul({number}) ^ limit);\n        }}\n    }}\n    out.sort_unstable();\n    out\n}}\n"
        )
    };
    let own: String = [3, 5, 7].map(|number| function("step", number)).concat();
    let inner: String = [11, 13, 17].map(|number| function("help", number)).concat();
    let module = format!("{own}#[cfg(test)]\nmod tests {{\n    use super::*;\n{inner}}}\n");
    let fixture = format!("//- src/a.rs\n{module}//- src/b.rs\n{module}");
    let report = report(&fixture);
    let class = report
        .duplicates
        .iter()
        .find(|class| class.kind == DuplicateKind::Module);
    let class = class.unwrap();
    let paths: Vec<String> = class
        .members
        .iter()
        .map(|one| one.path.to_string())
        .collect();
    assert_eq!(paths, ["src/a.rs", "src/b.rs"]);
    let lines = u32::try_from(module.lines().count()).unwrap();
    assert!(class.removable_lines <= lines, "{}", class.removable_lines);
}

/// A file of classes that are nothing but fields, and one method.
fn fields(first: &str) -> String {
    format!(
        "from dataclasses import dataclass\n{first}\n\n@dataclass\nclass Multi:\n    slice_index: int\n    first: Result\n    second: Result\n    method: str\n    count: int\n    percentage: float\n    only_first: int\n    only_second: int\n    metrics: dict[str, float]\n    places: list[tuple[float, float]]\n\n    def make(self):\n        return Result(self.count)\n"
    )
}

#[test]
fn what_is_the_same_token_by_token_is_told_data_and_all() {
    let own = fields("\n\n@dataclass\nclass Result:\n    count: int\n");
    let fixture = format!("//- cpu.py\n{own}//- gpu.py\n{own}");
    let report = report(&fixture);
    let class = report.duplicates.first().unwrap();
    assert_eq!(told(&report), ["module: cpu.py , gpu.py "]);
    assert_eq!(class.similarity, 1.0);
    assert!(class.removable_lines > 15, "{}", class.removable_lines);
}

#[test]
fn equal_classes_of_other_names_are_not_the_same() {
    let (left, right) = (
        fields("from one import Result\n\nLEFT = 1\n"),
        fields("from two import Result\n"),
    );
    let fixture = format!("//- cpu.py\n{left}//- gpu.py\n{right}");
    assert_eq!(told(&report(&fixture)), [""; 0]);
    let both = fields("from one import Result\n\nRIGHT = 2\n");
    let fixture = format!("//- cpu.py\n{left}//- gpu.py\n{both}");
    assert_eq!(
        told(&report(&fixture)),
        ["class: cpu.py Multi, gpu.py Multi"]
    );
}

#[test]
fn the_order_of_files_does_not_matter() {
    let fixture =
        format!("//- a.py\ndef normals(points):\n{COPY}//- b.py\ndef axes(points):\n{COPY}");
    let (one, two) = (report(&fixture), report(&fixture));
    assert_eq!(told(&one), told(&two));
}

#[test]
fn what_is_too_little_in_two_files_is_told_in_three() {
    let copies = |files: usize| -> String {
        let text = |at: usize| {
            format!(
                "//- m{at}.py\ndef parse_{at}(text):\n    first, second = text.split(SEPARATOR_OF_PAIRS, 1)\n    return first.casefold(), second.rstrip(FILLING)\n"
            )
        };
        (0..files).map(text).collect()
    };
    assert_eq!(told(&report(&copies(2))), Vec::<String>::new());
    let three = report(&copies(3));
    assert_eq!(
        told(&three),
        ["function: m0.py parse_0, m1.py parse_1, m2.py parse_2"]
    );
    // Tests may say the same again.
    let tests = copies(3).replace("//- ", "//- tests/");
    assert_eq!(told(&report(&tests)), Vec::<String>::new());
}

#[test]
fn what_the_program_does_comes_before_its_examples() {
    let copies = |folder: &str| {
        format!(
            "//- {folder}/a.py\ndef normals(points):\n{COPY}//- {folder}/b.py\ndef axes(points):\n{COPY}"
        )
    };
    let other = COPY
        .replace("mean", "median")
        .replace("eigh", "svd")
        .replace("covariance", "scatter");
    let product = format!(
        "//- src/a.py\ndef directions(points):\n{other}//- src/b.py\ndef extents(points):\n{other}"
    );
    let examples = copies("examples");
    let found = report(&format!("{examples}{product}"));
    let chapters: Vec<&str> = found
        .duplicates
        .iter()
        .map(|class| class.chapter.as_str())
        .collect();
    assert_eq!(chapters, ["alike", "examples"]);
}

/// So much in the same words that whoever sees it twice makes it one.
const WALK: &str = r"    seen = {start}
    queue = collections.deque([start])
    distance = {start: 0}
    while queue:
        node = queue.popleft()
        for step in grid.neighbours(node):
            if step in seen:
                continue
            if not grid.passable(step):
                continue
            seen.add(step)
            cost = grid.cost(node, step)
            distance[step] = distance[node] + cost
            queue.append(step)
    borders = []
    for node in grid.nodes():
        if node not in distance:
            continue
        for step in grid.neighbours(node):
            if step not in distance and grid.passable(step):
                borders.append((node, step))
    levels = collections.defaultdict(list)
    for node, far in sorted(distance.items()):
        level = int(far // grid.scale)
        if level >= grid.levels:
            level = grid.levels - 1
        levels[level].append(node)
    sizes = [len(levels[level]) for level in range(grid.levels)]
    if sum(sizes) != len(distance):
        raise ValueError(sizes)
    longest = max(distance.values())
    grid.mark(borders, longest)
    grid.report(levels)
    return distance
";

#[test]
fn long_copies_come_first_and_nobody_asks_of_examples() {
    let pair = |text: &str, names: [&str; 2]| {
        let file = |name: &str| format!("//- src/{name}.py\ndef {name}(grid, start):\n{text}");
        names.map(file).concat()
    };
    let short = COPY.replace("points", "grid");
    let files = pair(&short, ["normals", "axes"]) + &pair(WALK, ["walk", "flood"]);
    let found = report(&files);
    let chapters: Vec<(&str, &str)> = found
        .duplicates
        .iter()
        .map(|class| (class.chapter.as_str(), class.members[0].item.as_str()))
        .collect();
    // Both are equal and likely duplicated; the longer one is more lines in a row.
    assert_eq!(chapters, [("product", "flood"), ("alike", "axes")]);
    let merging = |at: usize| found.duplicates[at].merging().unwrap();
    assert!(merging(0) > 0.6 && merging(1) < 0.6, "{found:?}");
    // Nobody asks of examples.
    let examples = report(&pair(WALK, ["walk", "flood"]).replace("src/", "examples/"));
    assert_eq!(examples.duplicates[0].merging(), None);
}

#[test]
fn what_names_and_heads_give_a_reason_for_is_told_behind_what_has_none() {
    let cases = [
        ("src/a.py def walk", "src/b.py def flood", "product"),
        ("src/a.py async def walk", "src/b.py def flood", "asked"),
        (
            "src/a.py @triton.jit\ndef walk",
            "src/b.py @triton.jit\ndef flood",
            "kernels",
        ),
        (
            "one/src/a.py def walk",
            "two/src/b.py def flood",
            "packages",
        ),
        ("src/v1.py def walk", "src/v2.py def flood", "variants"),
        ("src/v1.py def walk", "src/v1.py def async_walk", "asked"),
    ];
    for (one, two, expected) in cases {
        assert_eq!(chapters_of_walks(one, two), [expected], "{one}, {two}");
    }
}

/// The chapters of two walks of which one writes a journal, at these places: a path and what stands before the arguments.
fn chapters_of_walks(one: &str, two: &str) -> Vec<&'static str> {
    let other = WALK.replace(
        "            seen.add(step)\n",
        "            seen.add(step)\n            journal.write(step, start)\n",
    );
    let file = |place: &str, text: &str| {
        let (path, head) = place.split_once(' ').unwrap();
        format!("//- {path}\n{head}(grid, start):\n{text}")
    };
    let mut files = file(one, WALK);
    // Two places of one file stand in one text.
    let second = file(two, &other);
    let same = one.split(' ').next() == two.split(' ').next();
    files += if same {
        second.split_once('\n').unwrap().1
    } else {
        &second
    };
    let found = report(&files).duplicates;
    found.iter().map(|class| class.chapter.as_str()).collect()
}

#[test]
fn what_is_on_its_way_out_or_has_run_is_kept() {
    let cases = [
        (
            "src/migrations/a.py def walk",
            "src/migrations/b.py def flood",
            "kept",
        ),
        (
            "src/a.py # Deprecated: flood does it.\ndef walk",
            "src/b.py def flood",
            "kept",
        ),
        (
            "src/a.py \"\"\"Deprecated.\"\"\"\ndef walk",
            "src/b.py def flood",
            "kept",
        ),
        (
            "src/a.py warnings.warn('gone', DeprecationWarning)\ndef walk",
            "src/b.py def flood",
            "kept",
        ),
        // A comment on a field says nothing of its type.
        (
            "src/a.py class Walker:\n  # Deprecated, and kept\n  origin: int\n  def walk",
            "src/b.py def flood",
            "product",
        ),
        (
            "src/a.py @deprecated\nclass Walker:\n  def walk",
            "src/b.py def flood",
            "kept",
        ),
    ];
    for (one, two, expected) in cases {
        assert_eq!(chapters_of_walks(one, two), [expected], "{one}, {two}");
    }
}

#[test]
fn what_was_taken_from_elsewhere_is_less_likely_worth_acting_on() {
    let acting = |head: &str, files: [&str; 2]| {
        let [one, other] = files;
        let found = report(&format!(
            "//- src/{one}.py\n{head}def walk(grid, start):\n{WALK}//- src/{other}.py\ndef flood(grid, start):\n{WALK}"
        ));
        found.duplicates[0].acting().unwrap()
    };
    let files = ["a", "b"];
    let own = acting("# Walks a grid.\n", files);
    for head in [
        "# Adapted from the reference implementation.\n",
        "# https://example.org/walk.py\n",
    ] {
        assert!(acting(head, files) < own, "{head}");
    }
    let licence = acting("# http://www.apache.org/licenses/LICENSE-2.0\n", files);
    assert!((licence - own).abs() < 1e-6);
    // Files of one name in several folders have each their own.
    assert!(acting("", ["one/walk", "two/walk"]) < own);
}

#[test]
fn functions_of_one_name_in_one_scope_are_there_under_conditions() {
    let cases = [
        ("if FAST:\n    def walk", "else:\n    def walk", "asked"),
        ("if FAST:\n    def walk", "else:\n    def flood", "product"),
    ];
    let body = |text: &str| {
        text.replace("\n    ", "\n        ")
            .replacen("    ", "        ", 1)
    };
    for (one, two, expected) in cases {
        let other = body(WALK).replace("seen.add(step)", "seen.add(step + 1)");
        let files = format!(
            "//- src/a.py\n{one}(grid, start):\n{}{two}(grid, start):\n{other}",
            body(WALK).trim_end_matches(' ')
        );
        let found = report(&files);
        let chapters: Vec<&str> = found
            .duplicates
            .iter()
            .map(|class| class.chapter.as_str())
            .collect();
        assert_eq!(chapters, [expected], "{one}, {two}: {files}");
    }
}

#[test]
fn what_stands_in_a_test_is_of_this_test() {
    let work = "        let mut steps = Vec::new();
        for edge in graph.edges_of(node) {
            if edge.weight() > limit {
                continue;
            }
            let cost = edge.weight() * graph.scale(edge.to());
            total += cost;
            steps.push((edge.to(), cost));
            if total > graph.budget() {
                return Err(Overrun { node, total });
            }
        }
        Ok(steps)
";
    for (attribute, expected) in [("#[test]", "tests"), ("#[inline]", "next")] {
        let file = |name: &str, inner: &str| {
            format!(
                "{attribute}\nfn {name}() {{\n    fn {inner}(graph: &Graph, node: Node, limit: f32) -> Steps {{\n        let mut total = 0.0;\n{work}    }}\n    {inner}(&GRAPH, Node(1), 2.0);\n}}\n"
            )
        };
        let files = format!(
            "//- src/a.rs\n{}{}",
            file("reaches", "visit"),
            file("stays", "follow")
        );
        let found = report(&files);
        let chapters: Vec<&str> = found
            .duplicates
            .iter()
            .map(|class| class.chapter.as_str())
            .collect();
        assert!(
            !chapters.is_empty() && chapters.iter().all(|own| *own == expected),
            "{attribute}: {:?}",
            told(&found)
        );
    }
}

/// Calls of GPU libraries in line: the package, its role, and a text that has it.
type InLine = (&'static str, &'static str, &'static str);

const PYTHON_IN_LINE: &[InLine] = &[
    (
        "torch",
        "detect",
        "import torch\nx = 1 if torch.cuda.is_available() else 2\n",
    ),
    (
        "torch",
        "detect",
        "import torch\nx = 1 if torch.backends.mps.is_available() else 2\n",
    ),
    (
        "torch",
        "detect",
        "import torch\nx = 1 if torch.xpu.is_available() else 2\n",
    ),
    (
        "arrayfire",
        "detect",
        "import arrayfire as af\nx = af.get_device_count()\n",
    ),
    (
        "warp",
        "launch",
        "import warp as wp\nwp.launch(kernel, dim=8, inputs=[])\n",
    ),
    (
        "taichi",
        "launch",
        "import taichi as ti\n@ti.kernel\ndef f():\n    pass\n",
    ),
    (
        "numba",
        "launch",
        "from numba import cuda\n@cuda.jit\ndef f(x):\n    pass\n",
    ),
    (
        "triton",
        "launch",
        "import triton\n@triton.jit\ndef f(x):\n    pass\n",
    ),
    (
        "hip",
        "detect",
        "from hip import hip\nn = hip.hipGetDeviceCount()\n",
    ),
    (
        "wgpu",
        "detect",
        "import wgpu\na = wgpu.gpu.request_adapter_sync()\n",
    ),
];

const RUST_IN_LINE: &[InLine] = &[
    (
        "metal",
        "detect",
        "use metal::Device;\nfn f() { let d = Device::system_default(); }\n",
    ),
    (
        "wgpu",
        "detect",
        "fn f() { let i = wgpu::Instance::new(a); }\n",
    ),
    (
        "ash",
        "detect",
        "fn f() { let e = ash::Entry::linked(); }\n",
    ),
    (
        "glow",
        "detect",
        "fn f() { let c = glow::Context::from_loader_function(l); }\n",
    ),
    ("gl", "allocate", "fn f() { gl::GenBuffers(1, b); }\n"),
    (
        "arrayfire",
        "detect",
        "fn f() { let n = arrayfire::device_count(); }\n",
    ),
    (
        "windows",
        "detect",
        "use windows::Win32::Graphics::Dxgi::CreateDXGIFactory2;\nfn f() { let d = CreateDXGIFactory2(0); }\n",
    ),
];

#[test]
fn interfaces_of_gpu_libraries_have_roles_where_they_are_called_in_line() {
    let python = PYTHON_IN_LINE.iter().map(|case| ("py", case));
    let cases = python.chain(RUST_IN_LINE.iter().map(|case| ("rs", case)));
    let missing: Vec<String> = cases
        .filter(|(ending, (package, role, text))| {
            let report = report(&format!("//- a.{ending}\n{text}"));
            !report
                .roles
                .iter()
                .any(|found| found.package == *package && found.role.as_str() == *role)
        })
        .map(|(_, (package, role, text))| format!("{package} {role}: {text}"))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

/// What is done with one kind of number, of which each call has its name.
const KIND: &str = r"    header = self.header_u32(key)
    if header is None:
        raise KeyError(key)
    count = header.count_u32(0)
    offset = header.offset_u32(count)
    values = self.buffer.read_u32(offset, count)
    for value in values:
        self.check_u32(value)
    self.seen.add_u32(values)
    return self.wrap_u32(values)
";

#[test]
fn one_text_with_another_word_throughout_is_a_copy() {
    let pair = |names: [&str; 2], words: [&str; 2]| {
        let method = |at: usize| {
            let body = KIND.replace("u32", words[at]).replace("    ", "        ");
            format!("    def {}(self, key):\n{body}", names[at])
        };
        report(&format!(
            "//- src/a.py\nclass Table:\n{}\n{}",
            method(0),
            method(1)
        ))
    };
    let of_kinds = pair(["take_u32", "take_f32"], ["u32", "f32"]);
    assert_eq!(
        told(&of_kinds),
        ["function: src/a.py Table.take_u32, src/a.py Table.take_f32"]
    );
    let of_sides = pair(["take_lhs", "take_rhs"], ["lhs", "rhs"]);
    assert_eq!(told(&of_sides).len(), 1);
    // What is done the other way round is two on purpose.
    let turned = pair(["encode_all", "decode_all"], ["encode", "decode"]);
    assert_eq!(told(&turned), Vec::<String>::new());
}
