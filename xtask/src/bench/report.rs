//! Rows as they are printed: a table for people, one JSON object a row for programs.

use serde_json::{Map, Value, json};

use super::{Figures, Row, trees::Tree};

/// Takes one figure.
type Figure = fn(&Figures) -> f64;

/// What is measured, as JSON and as a page name it.
const UNITS: [(&str, Figure); 3] = [
    ("wall s", |figures| figures.wall),
    ("CPU s", |figures| figures.cpu),
    ("peak MiB", |figures| figures.peak),
];

/// Says what the rows are about.
pub fn head(tree: &Tree, rounds: usize) {
    println!("tree `{}`: {}", tree.name, tree.root.display());
    println!(
        "medians of {rounds} rounds, in each of which everybody runs once; `×` is ours ÷ theirs"
    );
}

/// One benchmark as a small table.
pub fn human(row: &Row) {
    println!("\n{} {}", row.bench, row.case);
    println!(
        "  {:<30} {:>9} {:>9} {:>9}",
        "", "wall ms", "CPU ms", "peak MiB"
    );
    line("coalesce", &row.ours);
    for (name, taken) in &row.peers {
        match taken {
            Ok(figures) => {
                line(name, figures);
                println!(
                    "  {:<30} {:>8.2}× {:>8.2}× {:>8.2}×",
                    "",
                    row.ours.wall / figures.wall,
                    row.ours.cpu / figures.cpu,
                    row.ours.peak / figures.peak
                );
            }
            Err(why) => println!("  {name:<30} not run: {}", last_line(why)),
        }
    }
}

/// How time and memory grow with what is read: what a line costs in each size.
pub fn growth(rows: &[((String, usize), Figures)]) {
    if rows.is_empty() {
        return;
    }
    println!("\ngrowth: a line costs, and against the smallest size");
    println!(
        "  {:<30} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "", "lines", "wall us", "CPU us", "peak B", "CPU ×"
    );
    for ((name, lines), figures) in rows {
        let each = |value: f64| value / *lines as f64;
        let same = rows.iter().filter(|((other, _), _)| other == name);
        let smallest = same.min_by_key(|((_, lines), _)| *lines);
        let ratio = smallest.map_or(1.0, |((_, lines), smallest)| {
            each(figures.cpu) / (smallest.cpu / *lines as f64)
        });
        println!(
            "  {name:<30} {lines:>9} {:>9.3} {:>9.3} {:>9.1} {ratio:>6.2}×",
            each(figures.wall * 1e6),
            each(figures.cpu * 1e6),
            each(figures.peak * f64::from(1 << 20)),
        );
    }
}

fn line(name: &str, figures: &Figures) {
    println!(
        "  {name:<30} {:>9.1} {:>9.1} {:>9.1}",
        figures.wall * 1e3,
        figures.cpu * 1e3,
        figures.peak
    );
}

/// A traceback says at its end what went wrong.
fn last_line(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let line = lines.next_back().unwrap_or_default();
    let end = line
        .char_indices()
        .nth(100)
        .map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or(line)
}

/// One object for each figure.
pub fn json(row: &Row) -> anyhow::Result<()> {
    for object in objects(row) {
        println!("{}", serde_json::to_string(&object)?);
    }
    Ok(())
}

fn objects(row: &Row) -> Vec<Value> {
    let object = |(unit, figure): &(&str, Figure)| {
        let mut peers = Map::new();
        let mut not_run = Map::new();
        for (name, taken) in &row.peers {
            match taken {
                Ok(figures) => drop(peers.insert(name.clone(), json!(rounded(figure(figures))))),
                Err(why) => drop(not_run.insert(name.clone(), json!(last_line(why)))),
            }
        }
        let mut object = json!({
            "bench": row.bench,
            "case": row.case,
            "unit": unit,
            "ours": rounded(figure(&row.ours)),
            "peers": peers,
        });
        if let Some(object) = object.as_object_mut().filter(|_| !not_run.is_empty()) {
            object.insert("not_run".to_owned(), Value::Object(not_run));
        }
        object
    };
    UNITS.iter().map(object).collect()
}

/// Microseconds and a thousandth of a MiB are finer than anything that repeats.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_one_object_a_unit_and_says_who_did_not_run() {
        let figures = |wall| Figures {
            wall,
            cpu: 0.5,
            peak: 20.0,
        };
        let row = Row {
            bench: "check",
            size: None,
            case: "cold".to_owned(),
            ours: figures(0.1),
            peers: vec![
                ("one".to_owned(), Ok(figures(0.2))),
                (
                    "other".to_owned(),
                    Err("Traceback\n  x\nno parser\n".to_owned()),
                ),
            ],
        };
        let objects = objects(&row);
        assert_eq!(objects.len(), 3);
        let expected = json!({
            "bench": "check", "case": "cold", "unit": "wall s", "ours": 0.1,
            "peers": {"one": 0.2}, "not_run": {"other": "no parser"},
        });
        assert_eq!(objects.first(), Some(&expected));
    }
}
