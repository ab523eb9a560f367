//! What is told of repositories that share code. The engine's work, to name candidates, is done here in the
//! plainest way; that engines do the same is shown by `cargo xtask evidence fleet`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, sync::Arc};

use coalesce_fleet::{
    answer::answer,
    closer::Texts,
    engine::{Asked, Candidate, Engine, File, Unit},
    rows::{UnitRow, hash_of, units},
};
use coalesce_model::{TreePath, envelope::Fleet};

/// A repository: its name, when it was changed, and its files.
type Repository<'a> = (&'a str, Option<i64>, &'a [(&'a str, String)]);

const FUNCTIONS: &str = "
import numpy


def normals(points, neighbours):
    found = []
    for point in points:
        near = neighbours.query(point, k=16)
        centred = near - near.mean(axis=0)
        values, vectors = numpy.linalg.eigh(centred.T @ centred)
        found.append(vectors[:, values.argmin()])
    return numpy.asarray(found)


def downsample(points, size):
    keys = numpy.floor(points / size).astype(int)
    order = numpy.lexsort(keys.T)
    changed = numpy.any(numpy.diff(keys[order], axis=0), axis=1)
    starts = numpy.concatenate(([0], numpy.nonzero(changed)[0] + 1))
    return numpy.add.reduceat(points[order], starts) / numpy.diff(starts)[:, None]
";

/// The same without a bound that the first has.
fn fixed() -> String {
    FUNCTIONS.replace(
        "        near = neighbours.query(point, k=16)\n",
        "        near = neighbours.query(point, k=16)\n        if len(near) < 3:\n            continue\n",
    )
}

fn asked(repositories: &[Repository<'_>], root: &Path) -> Asked {
    let mut asked = Asked::default();
    let mut rows: Vec<(usize, UnitRow)> = Vec::new();
    for (name, changed, files) in repositories {
        for (path, text) in *files {
            let place = root.join(name).join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, text).unwrap();
            let path = TreePath::new(path).unwrap();
            let own = units(name, &path, &Arc::from(text.as_str()));
            let lines = own
                .iter()
                .map(|unit| u64::from(unit.lines.1 - unit.lines.0 + 1));
            asked.files.push(File {
                repository: (*name).to_owned(),
                path: path.to_string(),
                root: root.join(name).display().to_string(),
                commit: None,
                changed: *changed,
                hash: hash_of(text),
                units: own.len() as u64,
                lines: lines.sum(),
            });
            let at = asked.files.len() - 1;
            rows.extend(own.into_iter().map(|unit| (at, unit)));
        }
    }
    let repository = |at: usize| asked.files.get(at).unwrap().repository.clone();
    for (at, a) in &rows {
        for (other, b) in &rows {
            let shared = a.grams.iter().filter(|gram| b.grams.contains(gram)).count();
            let enough = shared * 3 >= a.grams.len().min(b.grams.len());
            if a.unit < b.unit && enough && repository(*at) != repository(*other) {
                asked.candidates.push(Candidate {
                    a: a.unit,
                    b: b.unit,
                    shared: i64::try_from(shared).unwrap(),
                    same: a.exact == b.exact,
                });
            }
        }
        asked.units.insert(
            a.unit,
            Unit {
                file: *at,
                language: a.language.as_str().to_owned(),
                symbol: a.symbol.clone(),
                lines: a.lines,
            },
        );
    }
    asked.candidates.sort_unstable();
    asked
}

fn told(repositories: &[Repository<'_>]) -> Fleet {
    let folder = tempfile::tempdir().unwrap();
    let asked = asked(repositories, folder.path());
    answer(&asked, &Texts::read(&asked, None), Engine::DuckDb)
}

#[test]
fn a_copied_module_is_told_with_what_one_lacks_and_who_is_behind() {
    let old = [("geometry/cloud.py", FUNCTIONS.to_owned())];
    let new = [("points.py", fixed())];
    let other = [(
        "text.py",
        "def f(a):\n    return [b for b in a if b]\n".to_owned(),
    )];
    for (dates, by_date) in [((None, None), false), ((Some(1_000), Some(2_000)), true)] {
        let fleet = told(&[
            ("one", dates.0, &old),
            ("two", dates.1, &new),
            ("three", None, &other),
        ]);
        assert_eq!(fleet.repositories, 3);
        let [copy] = fleet.copies.as_slice() else {
            panic!("{:#?}", fleet.copies);
        };
        assert!(copy.module && !copy.same, "{copy:#?}");
        let names: Vec<&str> = copy
            .members
            .iter()
            .map(|one| one.repository.as_str())
            .collect();
        assert_eq!(names, ["two", "one"]);
        let lacks: Vec<(bool, u32)> = copy
            .differences
            .iter()
            .map(|one| (one.in_first, one.line))
            .collect();
        assert_eq!(lacks, [(true, 9), (true, 10)], "{:#?}", copy.differences);
        let [behind] = copy.behind.as_slice() else {
            panic!("{:#?}", copy.behind);
        };
        assert_eq!((behind.member, behind.by_date), (1, by_date));
        let [pair] = fleet.pairs.as_slice() else {
            panic!("{:#?}", fleet.pairs);
        };
        assert_eq!(pair.repositories, ["one".to_owned(), "two".to_owned()]);
        assert!(pair.modules == 1 && pair.share.value() > 0.9, "{pair:#?}");
    }
}

#[test]
fn a_file_that_has_changed_since_is_counted_and_only_what_is_the_same_is_told() {
    let old = [("cloud.py", FUNCTIONS.to_owned())];
    let new = [("points.py", fixed())];
    let folder = tempfile::tempdir().unwrap();
    let asked = asked(&[("one", None, &old), ("two", None, &new)], folder.path());
    fs::write(folder.path().join("two/points.py"), "x = 1\n").unwrap();
    let texts = Texts::read(&asked, None);
    let fleet = answer(&asked, &texts, Engine::DuckDb);
    assert_eq!((fleet.unread_files, fleet.compared), (1, 0));
    assert_eq!(fleet.candidates, 1);
    let names: Vec<&str> = fleet
        .copies
        .iter()
        .map(|one| one.members[0].item.as_str())
        .collect();
    // One of two functions is the same.
    assert!(fleet.copies.iter().all(|copy| !copy.module), "{names:?}");
}

#[test]
fn what_one_repository_repeats_alone_is_no_copy_across() {
    let twice = [
        ("a.py", FUNCTIONS.to_owned()),
        ("b.py", FUNCTIONS.to_owned()),
    ];
    assert_eq!(told(&[("one", None, &twice)]).copies, []);
}
