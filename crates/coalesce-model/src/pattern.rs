//! Patterns over dotted and `::` names: `*` within a segment, `**` across segments.

/// A name pattern, as `[[forbid]]` and its `except` use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    text: String,
    segments: Vec<String>,
}

impl NamePattern {
    /// Reads a pattern; segments are parted by `.` or `::`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            segments: split(text).map(str::to_owned).collect(),
        }
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole of `name` fits.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<&str> = split(name).collect();
        let pattern: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        segments_match(&pattern, &name)
    }

    /// Whether `name` or one of the modules that contain it fits, so that what forbids `a.b`
    /// forbids `a.b.c` too.
    #[must_use]
    pub fn matches_name_or_parent(&self, name: &str) -> bool {
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
            ("a", "", false),
        ] {
            let pattern = NamePattern::new(pattern);
            assert_eq!(pattern.matches_name_or_parent(name), fits, "{name}");
        }
    }
}
