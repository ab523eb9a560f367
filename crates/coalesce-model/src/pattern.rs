//! Patterns over dotted and `::` names: `*` within a segment, `**` across segments.

/// A name pattern, as `[[forbid]]` and its `except` use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    text: String,
    /// What stands before `//`: the package, where several have one name.
    within: Option<String>,
    segments: Vec<String>,
    /// No segment has a star.
    plain: bool,
}

impl NamePattern {
    /// Reads a pattern; segments are parted by `.` or `::`. Without a `dir//` before it, it fits
    /// names of every package.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let (within, name) = apart(text);
        Self {
            text: text.to_owned(),
            within: within.map(str::to_owned),
            segments: split(name).map(str::to_owned).collect(),
            plain: !name.contains('*'),
        }
    }

    /// Why no name can ever fit; `None` where one can.
    #[must_use]
    pub fn fits_nothing(&self) -> Option<String> {
        if self.segments.is_empty() {
            return Some("a pattern of no segment fits no name".to_owned());
        }
        // What a file's name can give a module: of Python also `a-b`.
        let fits = |letter: &char| letter.is_alphanumeric() || "_*-#".contains(*letter);
        let mut letters = self.segments.iter().flat_map(|segment| segment.chars());
        let wrong = letters.find(|letter| !fits(letter))?;
        Some(format!(
            "no name has `{wrong}` in it, so `{}` fits none",
            self.text
        ))
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole of `name` fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some(name) = self.within(name) else {
            return false;
        };
        let name: Vec<&str> = split(name).collect();
        let pattern: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        segments_match(&pattern, &name)
    }

    /// Whether `name` or one of the modules that contain it fits, so that what forbids `a.b`
    /// forbids `a.b.c` too.
    #[must_use]
    pub fn matches_name_or_parent(&self, name: &str) -> bool {
        let Some(name) = self.within(name) else {
            return false;
        };
        if self.plain {
            let mut given = split(name);
            let mut wanted = self.segments.iter();
            return !self.segments.is_empty()
                && wanted.all(|segment| given.next() == Some(segment.as_str()));
        }
        // Most names part in the first segment, which needs no list.
        let begins = |first: &String| {
            let segment = split(name).next();
            first == "**" || segment.is_some_and(|segment| segment_matches(first, segment))
        };
        if !self.segments.first().is_none_or(begins) {
            return false;
        }
        let name: Vec<&str> = split(name).collect();
        let pattern: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        (1..=name.len())
            .any(|depth| segments_match(&pattern, name.get(..depth).unwrap_or_default()))
    }

    /// The name without its package, if the pattern is about that package.
    fn within<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (within, name) = apart(name);
        (self.within.is_none() || self.within.as_deref() == within).then_some(name)
    }
}

/// A name of the form `dir//name`, in its two parts.
fn apart(name: &str) -> (Option<&str>, &str) {
    match name.split_once("//") {
        Some((within, name)) => (Some(within), name),
        None => (None, name),
    }
}

fn split(name: &str) -> impl Iterator<Item = &str> {
    name.split(['.', ':']).filter(|segment| !segment.is_empty())
}

fn segments_match(pattern: &[&str], name: &[&str]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((&"**", rest)) => (0..=name.len())
            .any(|skipped| segments_match(rest, name.get(skipped..).unwrap_or_default())),
        Some((first, rest)) => name.split_first().is_some_and(|(segment, others)| {
            segment_matches(first, segment) && segments_match(rest, others)
        }),
    }
}

fn segment_matches(pattern: &str, segment: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == segment,
        Some((head, tail)) => segment.strip_prefix(head).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| segment_matches(tail, rest.get(at..).unwrap_or_default()))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::NamePattern;

    #[test]
    fn a_pattern_that_fits_nothing_says_why() {
        for (pattern, why) in [
            ("a.b[", Some("no name has `[` in it, so `a.b[` fits none")),
            ("a b", Some("no name has ` ` in it, so `a b` fits none")),
            ("", Some("a pattern of no segment fits no name")),
            ("a::r#type", None),
            ("tests/x//é.b_*.**", None),
        ] {
            assert_eq!(NamePattern::new(pattern).fits_nothing().as_deref(), why);
        }
    }

    #[test]
    fn a_star_stays_in_its_segment_and_two_cross() {
        for (pattern, name, fits) in [
            ("a.gpu*", "a.gpu_memory", true),
            ("a.gpu*", "a.gpu.pool", false),
            ("a.**", "a", true),
            ("a.**", "a.b.c", true),
            ("a::**::z", "a::b::z", true),
            ("*.b", "a.b", true),
            ("*.b", "a.c", false),
            ("g*u", "gpu", true),
            (
                "old_names::**",
                "crates/gpu/tests/old_names.rs//old_names::silent",
                true,
            ),
            ("gpu//app.**", "gpu//app.main", true),
            ("gpu//app.**", "cpu//app.main", false),
            ("gpu//app.**", "app.main", false),
        ] {
            assert_eq!(
                NamePattern::new(pattern).matches(name),
                fits,
                "{pattern} {name}"
            );
        }
        for (pattern, name, fits) in [
            ("a.gpu*", "a.gpu.pool", true),
            ("**.pool", "a.gpu.pool.Block", true),
            ("b.gpu", "a.gpu.pool", false),
            ("a.gpu", "a.gpu.pool", true),
            ("a::gpu", "a::gpu", true),
            ("a.gpu", "a.gpu_pool", false),
            ("a.gpu.pool", "a.gpu", false),
            ("", "a", false),
            ("a", "", false),
        ] {
            let pattern = NamePattern::new(pattern);
            assert_eq!(pattern.matches_name_or_parent(name), fits, "{name}");
        }
    }
}
