//! A tree's fingerprints to a Parquet file.

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
};

use coalesce_engine::{History, OUTLINERS};
use coalesce_model::{Texts as _, TreePath};
use coalesce_tree::SourceTree;
use parquet::{
    data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::parser::parse_message_type,
};
use rayon::prelude::*;

use crate::{
    Error,
    rows::{FORM, UnitRow, hash_of, units},
};

/// The columns, as Parquet writes them down.
const COLUMNS: &str = "message fingerprints {
    required int32 form;
    required binary root (string);
    required binary repository (string);
    optional binary repository_commit (string);
    required binary path (string);
    optional int64 changed;
    required int64 file_hash;
    required binary language (string);
    required binary symbol (string);
    required int32 first_line;
    required int32 last_line;
    required int64 unit;
    required int64 exact_hash;
    required int32 unit_grams;
    required int64 gram;
}";
/// Files that become a group of rows: memory goes by these, not by the repository.
const GROUP: usize = 2048;

/// What was written of one tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files that have units.
    pub files: usize,
    /// Units.
    pub units: usize,
    /// Rows.
    pub rows: usize,
}

/// The files of a tree that fingerprints are taken of, sorted.
#[must_use]
pub fn sources(tree: &SourceTree) -> Vec<TreePath> {
    let paths = tree.paths();
    let sources = OUTLINERS.iter().flat_map(|one| one.sources(paths));
    let mut sources: Vec<TreePath> = sources.cloned().collect();
    sources.sort();
    sources.dedup();
    sources
}

/// Writes the fingerprints of a tree into the folder `into`, a file named as the repository.
///
/// # Errors
/// When the file cannot be written.
pub fn write(
    tree: &SourceTree,
    repository: &str,
    history: &History,
    into: &Path,
) -> Result<Written, Error> {
    fs::create_dir_all(into).map_err(|error| Error::file(into, error))?;
    let path = into.join(format!("{repository}.parquet"));
    // A reader never sees half of it.
    let beside = into.join(format!(".{repository}.parquet.new"));
    // One that a run has left, or a link that leads elsewhere.
    _ = fs::remove_file(&beside);
    let file = File::create_new(&beside).map_err(|error| Error::file(&beside, error))?;
    let written = write_to(file, tree, repository, history);
    let written = written.map_err(|error| Error::Parquet(error.to_string()))?;
    fs::rename(&beside, &path).map_err(|error| Error::file(&path, error))?;
    Ok(written)
}

fn write_to(
    file: File,
    tree: &SourceTree,
    repository: &str,
    history: &History,
) -> Result<Written, ParquetError> {
    let properties = WriterProperties::builder()
        .set_column_dictionary_enabled("gram".into(), false)
        .set_created_by("coalesce".to_owned());
    let columns = Arc::new(parse_message_type(COLUMNS)?);
    let mut writer = SerializedFileWriter::new(file, columns, Arc::new(properties.build()))?;
    let root = tree.root().to_string_lossy();
    let mut written = Written::default();
    for some in sources(tree).chunks(GROUP) {
        let found = some.par_iter();
        let found = found.filter_map(|path| file_rows(tree, repository, history, path));
        let files: Vec<FileRows<'_>> = found.collect();
        let rows = Rows {
            root: &root,
            repository,
            commit: history.commit.as_deref(),
            files: &files,
        };
        written.files += files.len();
        written.units += files.iter().map(|file| file.units.len()).sum::<usize>();
        written.rows += rows.count();
        if rows.count() > 0 {
            rows.write(writer.next_row_group()?)?;
        }
    }
    writer.close()?;
    Ok(written)
}

/// The rows of a file, if it has units.
fn file_rows<'p>(
    tree: &SourceTree,
    repository: &str,
    history: &History,
    path: &'p TreePath,
) -> Option<FileRows<'p>> {
    let text = tree.text(path)?;
    let units = units(repository, path, &text);
    (!units.is_empty()).then(|| FileRows {
        path,
        hash: hash_of(&text),
        changed: history.changed.get(path).copied(),
        units,
    })
}

struct FileRows<'p> {
    path: &'p TreePath,
    hash: i64,
    changed: Option<i64>,
    units: Vec<UnitRow>,
}

/// The rows of some files.
struct Rows<'r> {
    root: &'r str,
    repository: &'r str,
    commit: Option<&'r str>,
    files: &'r [FileRows<'r>],
}

impl Rows<'_> {
    fn count(&self) -> usize {
        let units = self.files.iter().flat_map(|file| &file.units);
        units.map(|unit| unit.grams.len()).sum()
    }

    /// A value for each row: of each unit as often as it has fingerprints.
    fn each<T: Clone>(&self, value: impl Fn(&FileRows<'_>, &UnitRow) -> T) -> Vec<T> {
        let mut values = Vec::with_capacity(self.count());
        for file in self.files {
            for unit in &file.units {
                values.extend(std::iter::repeat_n(value(file, unit), unit.grams.len()));
            }
        }
        values
    }

    /// All columns, in the order of [`COLUMNS`].
    fn write(&self, group: SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        let mut columns = Columns(group);
        let whole = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        columns.add::<Int32Type>(&self.each(|_, _| FORM))?;
        let text = |value: &str| ByteArray::from(value);
        columns.add::<ByteArrayType>(&self.each(|_, _| text(self.root)))?;
        columns.add::<ByteArrayType>(&self.each(|_, _| text(self.repository)))?;
        columns.add_some::<ByteArrayType>(&self.each(|_, _| self.commit.map(text)))?;
        columns.add::<ByteArrayType>(&self.each(|file, _| text(file.path.as_str())))?;
        columns.add_some::<Int64Type>(&self.each(|file, _| file.changed))?;
        columns.add::<Int64Type>(&self.each(|file, _| file.hash))?;
        columns.add::<ByteArrayType>(&self.each(|_, unit| text(unit.language.as_str())))?;
        columns.add::<ByteArrayType>(&self.each(|_, unit| text(unit.symbol.as_str())))?;
        columns.add::<Int32Type>(&self.each(|_, unit| whole(unit.lines.0)))?;
        columns.add::<Int32Type>(&self.each(|_, unit| whole(unit.lines.1)))?;
        columns.add::<Int64Type>(&self.each(|_, unit| unit.unit))?;
        columns.add::<Int64Type>(&self.each(|_, unit| unit.exact))?;
        let grams = |unit: &UnitRow| i32::try_from(unit.grams.len()).unwrap_or(i32::MAX);
        columns.add::<Int32Type>(&self.each(|_, unit| grams(unit)))?;
        let units = self.files.iter().flat_map(|file| &file.units);
        let all: Vec<i64> = units.flat_map(|unit| unit.grams.iter().copied()).collect();
        columns.add::<Int64Type>(&all)?;
        columns.0.close()?;
        Ok(())
    }
}

/// A group of rows that is written column by column.
struct Columns<'w>(SerializedRowGroupWriter<'w, File>);

impl Columns<'_> {
    fn add<T: DataType>(&mut self, values: &[T::T]) -> Result<(), ParquetError> {
        self.levels::<T>(values, None)
    }

    /// Values of which some are not known.
    fn add_some<T: DataType>(&mut self, values: &[Option<T::T>]) -> Result<(), ParquetError> {
        let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
        let known: Vec<T::T> = values.iter().flatten().cloned().collect();
        self.levels::<T>(&known, Some(&levels))
    }

    fn levels<T: DataType>(
        &mut self,
        values: &[T::T],
        levels: Option<&[i16]>,
    ) -> Result<(), ParquetError> {
        let next = self.0.next_column()?;
        let missing = || ParquetError::General("the form has fewer columns".to_owned());
        let mut column = next.ok_or_else(missing)?;
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()
    }
}
