//! JSON schemas (draft 2020-12) of what Coalesce reads and writes, with no format but those that JSON Schema has.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RestrictFormats};

/// The schema of what is read: a field that has a default is not required.
#[must_use]
pub fn as_read<T: JsonSchema>() -> Schema {
    of::<T>(SchemaSettings::draft2020_12())
}

/// The schema of what is written: a field is not required where it is left out when it is empty.
#[must_use]
pub fn as_written<T: JsonSchema>() -> Schema {
    of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    // A validator in strict mode stops at a format that it does not know, and a patient one warns of each.
    let settings = settings.with_transform(RestrictFormats::default());
    settings.into_generator().into_root_schema_for::<T>()
}
