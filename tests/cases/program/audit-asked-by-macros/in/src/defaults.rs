//! A default and what stands in its place.

/// Writes queries.
pub trait Writer {
    /// Joins two queries.
    fn write_union(&self, kind: u8, query: &str, out: &mut String) {
        match kind {
            0 => out.push_str(" INTERSECT ("),
            1 => out.push_str(" UNION ("),
            2 => out.push_str(" EXCEPT ("),
            _ => out.push_str(" UNION ALL ("),
        }
        for line in query.lines().filter(|line| !line.is_empty()) {
            out.push_str(line);
        }
        out.push(')');
    }
}

/// Of one kind.
pub struct Plain;

impl Writer for Plain {
    fn write_union(&self, kind: u8, query: &str, out: &mut String) {
        match kind {
            0 => out.push_str(" INTERSECT "),
            1 => out.push_str(" UNION "),
            2 => out.push_str(" EXCEPT "),
            _ => out.push_str(" UNION ALL "),
        }
        for line in query.lines().filter(|line| !line.is_empty()) {
            out.push_str(line);
        }
    }
}
