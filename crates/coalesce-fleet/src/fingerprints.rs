//! What is kept of a unit: some of the hashes of its runs of tokens, the same ones in every copy.
//!
//! Winnowing: of each window of neighbouring runs the least hash is kept, so two texts that share a
//! passage of `RUN + WINDOW - 1` tokens share a fingerprint, wherever it stands in them.

use coalesce_clones::Token;
use xxhash_rust::xxh3::xxh3_64;

/// Tokens of a run.
const RUN: usize = 8;
/// Runs of which one is kept.
const WINDOW: usize = 8;

/// The fingerprints of a body, sorted, each once. Local names and messages do not count.
pub fn of(body: &[Token]) -> Vec<i64> {
    let blind = body.iter().flat_map(|token| token.blind().to_le_bytes());
    let blind: Vec<u8> = blind.collect();
    let runs: Vec<u64> = blind.windows(RUN * 4).step_by(4).map(xxh3_64).collect();
    let least = |window: &[u64]| window.iter().min().copied();
    let mut kept: Vec<i64> = if runs.len() < WINDOW {
        least(&runs).into_iter().map(u64::cast_signed).collect()
    } else {
        let windows = runs.windows(WINDOW).filter_map(least);
        windows.map(u64::cast_signed).collect()
    };
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use coalesce_engine::OUTLINERS;
    use coalesce_model::TreePath;

    use super::*;

    fn of_text(text: &str) -> Vec<i64> {
        let path = TreePath::new("a.py").unwrap();
        let mut files = OUTLINERS
            .iter()
            .flat_map(|one| one.source_files(&path, &Arc::from(text)));
        let file = files.next().unwrap();
        let unit = file.units.iter().find(|unit| unit.name != 0).unwrap();
        of(file.body_of(unit))
    }

    #[test]
    fn a_common_passage_leaves_a_common_fingerprint_and_local_names_do_not_count() {
        let passage =
            "    for row in table.rows():\n        total = total + row.price * row.count\n";
        let one = of_text(&format!(
            "def a(table):\n    total = 0\n{passage}    return total\n"
        ));
        let renamed = passage.replace("row", "line").replace("lines()", "rows()");
        let other = of_text(&format!(
            "def b(table, path):\n    open(path).read()\n    total = 0\n{renamed}    print(total, path)\n"
        ));
        assert!(
            one.iter().any(|gram| other.contains(gram)),
            "{one:?} {other:?}"
        );
        assert_eq!(of_text("def c():\n    return\n"), Vec::<i64>::new());
    }
}
