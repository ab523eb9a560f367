//! One side.

pub fn named_boxes(names: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if name.len() > 4 && !name.starts_with("box") {
            found.push(format!("{at}-{}", name.to_lowercase()));
        } else if at % 3 == 1 {
            found.push(name.replace("box", "crate"));
        }
    }
    found.sort();
    found
}
