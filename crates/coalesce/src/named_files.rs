//! Files that the command line names: manifests and baselines to read, saved plans and baselines to
//! write. Not the tree: that is read by `coalesce-tree` and written by `coalesce-apply`.

use std::{fs, io::ErrorKind, path::Path};

use crate::exit::Failure;

/// The text of a file that the user named.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_owned(),
            ErrorKind::InvalidData => "it is not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        Failure::user(format!("cannot read {}: {reason}", path.display()))
    })
}

/// Writes a file that the user asked for.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::user(format!("cannot write {}: {error}", path.display())))
}

/// Adds to a file that another program has made for it.
///
/// # Errors
/// When it is not there, or cannot be written.
pub fn append(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = fs::OpenOptions::new().append(true).open(path)?;
    file.write_all(text.as_bytes())
}
