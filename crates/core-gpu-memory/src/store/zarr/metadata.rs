//! `zarr.json`: what an array or a group says of itself, by the specification of Zarr's version 3
//! (<https://zarr-specs.readthedocs.io/en/latest/v3/core/>), as far as it is read here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{DType, store::Metadata};

/// Under which attribute a blob that is no array says so.
const NO_ARRAY: &str = "coalesce";

/// A node of a hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// It holds others.
    Group,
    /// Numbers.
    Array(ArrayNode),
}

/// An array as it lies on disk: raw chunks, each the same shape, in the order of C.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayNode {
    /// Elements along each dimension.
    pub shape: Vec<u64>,
    /// Of a chunk; nowhere zero.
    pub chunk: Vec<u64>,
    /// Of the elements.
    pub dtype: DType,
    /// One element of chunks that are not there.
    pub fill: Vec<u8>,
    /// Between the numbers of a chunk's name.
    pub separator: char,
    /// What was known of the blob that was saved; its shape and type, if it was an array.
    pub metadata: Metadata,
}

impl ArrayNode {
    /// A blob in one chunk. What is no array is one of bytes, and says so.
    pub fn whole(metadata: &Metadata, bytes: u64) -> ArrayNode {
        let (shape, dtype) = match (&metadata.shape, metadata.dtype) {
            (Some(shape), Some(dtype)) => (shape.clone(), dtype),
            _ => (vec![bytes], DType::UInt8),
        };
        ArrayNode {
            chunk: shape.iter().map(|extent| (*extent).max(1)).collect(),
            fill: vec![0; dtype.bytes() as usize],
            shape,
            dtype,
            separator: '/',
            metadata: metadata.clone(),
        }
    }

    /// As JSON; none for a type that Zarr does not have.
    pub fn to_json(&self) -> Option<Vec<u8>> {
        let mut attributes = Map::new();
        if self.metadata.shape.is_none() || self.metadata.dtype.is_none() {
            attributes.insert(NO_ARRAY.to_owned(), json!({ "metadata": self.metadata }));
        }
        let fill = match self.dtype {
            DType::Bool => json!(false),
            DType::Complex64 | DType::Complex128 => json!([0.0, 0.0]),
            DType::Float16 | DType::Float32 | DType::Float64 => json!(0.0),
            _ => json!(0),
        };
        let text = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": self.shape,
            "data_type": name_of(self.dtype)?,
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": self.chunk } },
            "chunk_key_encoding": {
                "name": "default",
                "configuration": { "separator": self.separator },
            },
            "fill_value": fill,
            "codecs": [{ "name": "bytes", "configuration": { "endian": "little" } }],
            "attributes": attributes,
        });
        Some(text.to_string().into_bytes())
    }
}

/// The JSON of a group.
pub fn group() -> Vec<u8> {
    let text = json!({ "zarr_format": 3, "node_type": "group", "attributes": {} });
    text.to_string().into_bytes()
}

const NAMES: &[(&str, DType)] = &[
    ("bool", DType::Bool),
    ("uint8", DType::UInt8),
    ("int8", DType::Int8),
    ("uint16", DType::UInt16),
    ("int16", DType::Int16),
    ("uint32", DType::UInt32),
    ("int32", DType::Int32),
    ("uint64", DType::UInt64),
    ("int64", DType::Int64),
    ("float16", DType::Float16),
    ("float32", DType::Float32),
    ("float64", DType::Float64),
    ("complex64", DType::Complex64),
    ("complex128", DType::Complex128),
];

fn name_of(dtype: DType) -> Option<&'static str> {
    let found = NAMES.iter().find(|(_, known)| *known == dtype);
    found.map(|(name, _)| *name)
}

/// Something with a name and settings of its own.
#[derive(Debug, Deserialize, Serialize)]
struct Named {
    name: String,
    #[serde(default)]
    configuration: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct ArrayJson {
    shape: Vec<u64>,
    data_type: Value,
    chunk_grid: Named,
    chunk_key_encoding: Named,
    fill_value: Value,
    codecs: Vec<Named>,
    #[serde(default)]
    storage_transformers: Vec<Value>,
    #[serde(default)]
    attributes: Map<String, Value>,
}

/// What a `zarr.json` says.
///
/// # Errors
/// What of it is not read here, or is no Zarr.
pub fn read(text: &[u8]) -> Result<Node, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if value.get("zarr_format") != Some(&json!(3)) {
        return Err("it is not of Zarr's version 3".to_owned());
    }
    match value.get("node_type").and_then(Value::as_str) {
        Some("group") => Ok(Node::Group),
        Some("array") => {
            let array = serde_json::from_value(value).map_err(|error| error.to_string())?;
            read_array(array).map(Node::Array)
        }
        other => Err(format!("it is a {other:?}")),
    }
}

fn read_array(json: ArrayJson) -> Result<ArrayNode, String> {
    let name = json.data_type.as_str().unwrap_or_default();
    let known = NAMES.iter().find(|(known, _)| *known == name);
    let (_, dtype) = known.ok_or_else(|| format!("the type {} is not read", json.data_type))?;
    check_codecs(&json.codecs, *dtype)?;
    if !json.storage_transformers.is_empty() {
        return Err("its storage is transformed".to_owned());
    }
    let chunk = json.chunk_grid.configuration.get("chunk_shape");
    let chunk: Option<Vec<u64>> =
        chunk.and_then(|shape| serde_json::from_value(shape.clone()).ok());
    let fits = |chunk: &Vec<u64>| chunk.len() == json.shape.len() && !chunk.contains(&0);
    let chunk = chunk.filter(|chunk| json.chunk_grid.name == "regular" && fits(chunk));
    let metadata = json
        .attributes
        .get(NO_ARRAY)
        .and_then(|own| own.get("metadata"));
    let metadata = metadata.and_then(|known| serde_json::from_value(known.clone()).ok());
    Ok(ArrayNode {
        chunk: chunk.ok_or("its chunks are no regular grid")?,
        fill: fill(&json.fill_value, *dtype)?,
        separator: separator(&json.chunk_key_encoding)?,
        metadata: metadata.unwrap_or_else(|| Metadata::array(&json.shape, *dtype)),
        shape: json.shape,
        dtype: *dtype,
    })
}

/// Raw bytes, the lowest first, are all that is read; a single byte has no order.
fn check_codecs(codecs: &[Named], dtype: DType) -> Result<(), String> {
    match codecs {
        [only] if only.name == "bytes" => {
            let little = only.configuration.get("endian") == Some(&json!("little"));
            match little || dtype.bytes() == 1 {
                true => Ok(()),
                false => Err("its numbers begin with the highest byte".to_owned()),
            }
        }
        codecs => {
            let names: Vec<_> = codecs.iter().map(|codec| codec.name.as_str()).collect();
            Err(format!(
                "of its codecs ({}) only `bytes` is read",
                names.join(", ")
            ))
        }
    }
}

fn separator(encoding: &Named) -> Result<char, String> {
    let said = encoding.configuration.get("separator");
    match (encoding.name.as_str(), said.and_then(Value::as_str)) {
        ("default", None | Some("/")) => Ok('/'),
        ("default", Some(".")) => Ok('.'),
        _ => Err("its chunks' names are not read".to_owned()),
    }
}

/// One element's bytes.
fn fill(value: &Value, dtype: DType) -> Result<Vec<u8>, String> {
    let bytes = dtype.bytes() as usize;
    let is_zero = |value: &Value| {
        // Minus zero has a bit.
        value == &json!(false) || value.as_f64().is_some_and(|number| number.to_bits() == 0)
    };
    let all_zero = match value {
        Value::Array(parts) => parts.iter().all(is_zero),
        value => is_zero(value),
    };
    if all_zero {
        return Ok(vec![0; bytes]);
    }
    let whole = value.as_i64().map(i128::from);
    let whole = whole.or(value.as_u64().map(i128::from));
    let real = value.as_f64().or(match value.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        _ => None,
    });
    let unread = || format!("the value {value} of missing chunks is not read");
    Ok(match dtype {
        DType::Bool if value == &json!(true) => vec![1],
        DType::Float32 => (real.ok_or_else(unread)? as f32).to_le_bytes().to_vec(),
        DType::Float64 => real.ok_or_else(unread)?.to_le_bytes().to_vec(),
        DType::Bool | DType::Float16 | DType::Complex64 | DType::Complex128 => {
            return Err(unread());
        }
        _ => {
            let number = whole.ok_or_else(unread)?;
            let bits = 8 * bytes;
            let signed = matches!(
                dtype,
                DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64
            );
            let (least, beyond) = if signed {
                (-(1_i128 << (bits - 1)), 1_i128 << (bits - 1))
            } else {
                (0, 1_i128 << bits)
            };
            if !(least..beyond).contains(&number) {
                return Err(unread());
            }
            number
                .to_le_bytes()
                .get(..bytes)
                .unwrap_or_default()
                .to_vec()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_does_not_fit_is_not_cut_off() {
        for (value, dtype) in [
            (json!(300), DType::UInt8),
            (json!(-1), DType::UInt8),
            (json!(128), DType::Int8),
            (json!(-129), DType::Int8),
        ] {
            assert!(fill(&value, dtype).is_err(), "{value} {dtype:?}");
        }
        assert_eq!(fill(&json!(255), DType::UInt8), Ok(vec![255]));
        assert_eq!(fill(&json!(-128), DType::Int8), Ok(vec![128]));
        assert_eq!(fill(&json!(-0.0), DType::Float32), Ok(vec![0, 0, 0, 128]));
        assert_eq!(fill(&json!(0), DType::Int64), Ok(vec![0; 8]));
    }

    #[test]
    fn what_is_written_is_read() {
        for (_, dtype) in NAMES {
            for shape in [vec![], vec![0, 3], vec![4, 5]] {
                let metadata = Metadata::array(&shape, *dtype);
                let node = ArrayNode::whole(&metadata, 0);
                assert_eq!(read(&node.to_json().unwrap()), Ok(Node::Array(node)));
            }
        }
        let bytes = ArrayNode::whole(&Metadata::default(), 7);
        assert_eq!(read(&bytes.to_json().unwrap()), Ok(Node::Array(bytes)));
        assert_eq!(read(&group()), Ok(Node::Group));
        let metadata = Metadata::array(&[1], DType::BFloat16);
        assert_eq!(ArrayNode::whole(&metadata, 2).to_json(), None);
    }

    #[test]
    fn what_is_not_read_is_named() {
        let node = ArrayNode::whole(&Metadata::array(&[4], DType::Int16), 0);
        let text = String::from_utf8(node.to_json().unwrap()).unwrap();
        for (from, to, why) in [
            ("\"int16\"", "\"complex512\"", "complex512"),
            ("little", "big", "highest byte"),
            ("\"bytes\"", "\"zstd\"", "zstd"),
            ("regular", "rectangular", "grid"),
            ("\"default\"", "\"v2\"", "names"),
            ("\"fill_value\":0", "\"fill_value\":\"x\"", "missing"),
            ("\"zarr_format\":3", "\"zarr_format\":2", "version 3"),
            ("[4]", "[4,4]", "grid"),
        ] {
            let changed = text.replacen(from, to, 1);
            let said = read(changed.as_bytes()).unwrap_err();
            assert!(said.contains(why), "{changed}: {said}");
        }
    }

    #[test]
    fn missing_chunks_have_a_value() {
        assert_eq!(fill(&json!(-2), DType::Int16), Ok(vec![254, 255]));
        assert_eq!(fill(&json!(255), DType::UInt8), Ok(vec![255]));
        assert_eq!(
            fill(&json!(1.5), DType::Float32),
            Ok(1.5_f32.to_le_bytes().to_vec())
        );
        assert_eq!(fill(&json!([0.0, 0.0]), DType::Complex64), Ok(vec![0; 8]));
        assert!(fill(&json!(1.5), DType::Float16).is_err());
    }
}
