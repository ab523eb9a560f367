//! How settings are read, whosever they are: keys with what each does to a layer, from TOML and
//! from the environment. An unknown key is an error that names the nearest one. Which layer goes
//! over which is the business of who has the keys.

use toml::{Table, Value};

/// What variables begin with.
const PREFIX: &str = "COALESCE_";
/// Variables that begin so must be known.
const OURS: &str = "COALESCE_GPU_";

/// How many letters the name of a group may be off by to be taken for a misspelt one.
const MISSPELT: usize = 2;
/// Variables that begin as a group does and are another reader's: in the environment the key
/// `gpu.memory-threshold` looks like one of the group `gpu.memory`.
const OTHERS: &[&str] = &["COALESCE_GPU_MEMORY_THRESHOLD"];

/// Why something is no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no such key.
    #[error("unknown key `{key}` in {place}{}", nearest.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownKey {
        /// The key, or the variable's name.
        key: String,
        /// Where it stands.
        place: &'static str,
        /// The known key that is most like it.
        nearest: Option<String>,
    },
    /// The value is not of the key's kind, or out of range.
    #[error("`{key}` in {place} must be {wanted}, not {found}")]
    Value {
        /// The key.
        key: String,
        /// Where it stands.
        place: &'static str,
        /// What would be right.
        wanted: &'static str,
        /// What stands there.
        found: String,
    },
    /// The file is not TOML.
    #[error("the configuration is not TOML: {0}")]
    Toml(String),
}

/// Puts a value into a layer, or says what it should have been.
pub type Set<L> = fn(&mut L, &Value) -> Result<(), &'static str>;

/// Keys by their dotted names, each with how its value gets into a layer.
///
/// Several readers may share one file and one environment: each judges the keys of the groups that it
/// has keys in (`gpu.memory` of `gpu.memory.cache-size`), and those of groups that are called nearly so,
/// and passes over the others.
#[derive(Clone, Copy, Debug)]
pub struct Keys<L: 'static>(pub &'static [(&'static str, Set<L>)]);

impl<L> Keys<L> {
    /// Reads a TOML file's text. Of two values for one key the later stays.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn read_toml(&self, layer: &mut L, text: &str) -> Result<(), ConfigError> {
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| ConfigError::Toml(error.to_string()))?;
        flatten("", &table, &mut |key, value| {
            // Python's way of writing a key is as good: no two keys differ in this alone.
            let key = key.replace('_', "-");
            let group = key.strip_prefix("gpu.").map(|rest| rest.split('.').next());
            if group.is_some_and(|group| !self.judge(group.unwrap_or_default())) {
                return Ok(());
            }
            self.set(layer, "the file", &key, value)
        })
    }

    /// Reads variables, which begin with `COALESCE_GPU_` and the group's name.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn read_environment(
        &self,
        layer: &mut L,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        let ours = |(name, _): &(String, String)| {
            let rest = name.strip_prefix(OURS).unwrap_or_default();
            let group = rest.split('_').next().unwrap_or_default();
            let is_own = self.0.iter().any(|(key, _)| variable(key) == *name);
            is_own || (!OTHERS.contains(&name.as_str()) && self.judge(&group.to_ascii_lowercase()))
        };
        for (name, text) in variables.into_iter().filter(ours) {
            let found = self.0.iter().find(|(key, _)| variable(key) == name);
            let Some((key, _)) = found else {
                let known = self.0.iter().map(|(key, _)| variable(key));
                return Err(unknown("the environment", &name, known));
            };
            self.set(layer, "the environment", key, &from_text(&text))?;
        }
        Ok(())
    }

    fn set(
        &self,
        layer: &mut L,
        place: &'static str,
        key: &str,
        value: &Value,
    ) -> Result<(), ConfigError> {
        let Some((_, set)) = self.0.iter().find(|(known, _)| *known == key) else {
            let known = self.0.iter().map(|(known, _)| (*known).to_owned());
            return Err(unknown(place, key, known));
        };
        set(layer, value).map_err(|wanted| ConfigError::Value {
            key: key.to_owned(),
            place,
            wanted,
            found: shown(value),
        })
    }

    /// Whether a group is one that these keys are in, or a misspelt one of those.
    fn judge(&self, group: &str) -> bool {
        let groups = self.0.iter().filter_map(|(key, _)| key.split('.').nth(1));
        let mut distances = groups.map(|own| strsim::damerau_levenshtein(own, group));
        distances.any(|distance| distance <= MISSPELT)
    }
}

/// The variables of this process that begin with `COALESCE_GPU_`.
pub fn own_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let value = value.to_string_lossy().into_owned();
        name.starts_with(OURS).then_some((name, value))
    })
}

/// Calls a function with each value that is no table, by its dotted key.
fn flatten(
    prefix: &str,
    table: &Table,
    set: &mut impl FnMut(&str, &Value) -> Result<(), ConfigError>,
) -> Result<(), ConfigError> {
    for (name, value) in table {
        let key = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        match value {
            Value::Table(inner) => flatten(&key, inner, set)?,
            value => set(&key, value)?,
        }
    }
    Ok(())
}

fn variable(key: &str) -> String {
    let upper = key.to_ascii_uppercase().replace(['.', '-'], "_");
    format!("{PREFIX}{upper}")
}

fn unknown(place: &'static str, key: &str, known: impl Iterator<Item = String>) -> ConfigError {
    let distances = known.map(|known| (strsim::damerau_levenshtein(&known, key), known));
    let nearest = distances
        .min()
        .filter(|(distance, _)| *distance <= key.len() / 3);
    ConfigError::UnknownKey {
        key: key.to_owned(),
        place,
        nearest: nearest.map(|(_, known)| known),
    }
}

/// A variable's text as the value that it looks like.
fn from_text(text: &str) -> Value {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => return Value::Boolean(true),
        "false" | "no" | "off" => return Value::Boolean(false),
        _ => (),
    }
    let whole = text.parse().map(Value::Integer);
    let number = || text.parse().map(Value::Float);
    whole
        .or_else(|_| number())
        .unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(whole) => whole.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(_) => "a date".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

/// A number, whole or not.
///
/// # Errors
/// What it should have been.
pub fn number(value: &Value) -> Result<f64, &'static str> {
    let whole = value.as_integer().map(|whole| whole as f64);
    value.as_float().or(whole).ok_or("a number")
}

/// A number that is whole and not negative.
///
/// # Errors
/// What it should have been.
pub fn whole(value: &Value) -> Result<u64, &'static str> {
    let whole = value
        .as_integer()
        .and_then(|whole| u64::try_from(whole).ok());
    whole.ok_or("a whole number, not negative")
}

/// True or false, 1 or 0.
///
/// # Errors
/// What it should have been.
pub fn truth(value: &Value) -> Result<bool, &'static str> {
    match value {
        Value::Boolean(truth) => Ok(*truth),
        Value::Integer(0) => Ok(false),
        Value::Integer(1) => Ok(true),
        _ => Err("true or false"),
    }
}
