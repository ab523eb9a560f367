//! Types of other libraries, as far as what they hold is followed: containers, options, iterators.
//!
//! A type of the standard library is known by its name; of its methods, those that hand on what it holds.

use super::kinds::ReceiverKind;

/// Types that hand method calls on to what they hold.
pub(super) const POINTERS: [&str; 14] = [
    "Arc",
    "Box",
    "Cow",
    "LazyCell",
    "LazyLock",
    "ManuallyDrop",
    "MutexGuard",
    "PeekMut",
    "Pin",
    "Rc",
    "Ref",
    "RefMut",
    "RwLockReadGuard",
    "RwLockWriteGuard",
];

/// Types that hold values of one type, and give them by an iterator.
const OF_ONE: [&str; 11] = [
    "[]",
    "Vec",
    "VecDeque",
    "BinaryHeap",
    "BTreeSet",
    "HashSet",
    "LinkedList",
    "Option",
    "Range",
    "RangeInclusive",
    ITERATOR,
];

/// Types that hold pairs of keys and values.
const OF_PAIRS: [&str; 2] = ["BTreeMap", "HashMap"];

/// What gives values one after the other.
const ITERATOR: &str = "iterator";

/// Methods that give what they are called on, or what holds the same.
const THE_SAME: [&str; 15] = [
    "as_deref",
    "as_deref_mut",
    "as_mut",
    "as_mut_slice",
    "as_ref",
    "as_slice",
    "by_ref",
    "clone",
    "cloned",
    "copied",
    "or",
    "or_else",
    "take",
    "to_owned",
    "to_vec",
];

/// Methods of iterators that give the same values, or some of them.
const ADAPTERS: [&str; 10] = [
    "chain",
    "cycle",
    "filter",
    "inspect",
    "peekable",
    "rev",
    "skip",
    "skip_while",
    "step_by",
    "take_while",
];

/// Methods that give a value, if there is one.
const GIVE_ONE: [&str; 16] = [
    "back",
    "back_mut",
    "find",
    "first",
    "first_mut",
    "front",
    "front_mut",
    "last",
    "last_mut",
    "max_by_key",
    "min_by_key",
    "next",
    "next_back",
    "nth",
    "peek",
    "pop",
];

/// Methods that take a value out of what may hold one.
const UNWRAP: [&str; 5] = [
    "expect",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
];

/// Methods of iterators that give each value to a closure.
const GIVEN_EACH: [&str; 19] = [
    "all",
    "any",
    "filter",
    "filter_map",
    "find",
    "find_map",
    "flat_map",
    "for_each",
    "inspect",
    "map",
    "map_while",
    "max_by_key",
    "min_by_key",
    "partition",
    "position",
    "rposition",
    "skip_while",
    "take_while",
    "try_for_each",
];

/// Methods that give what an option or a result holds to a closure.
const GIVEN_HELD: [&str; 8] = [
    "and_then",
    "filter",
    "inspect",
    "is_none_or",
    "is_ok_and",
    "is_some_and",
    "map",
    "map_or",
];

/// What a method gives to the closure that it is given.
pub(super) fn given(kind: &ReceiverKind, method: &str) -> Vec<Option<ReceiverKind>> {
    let ReceiverKind::Outside(name, of) = kind else {
        return Vec::new();
    };
    match (name.as_str(), method) {
        (ITERATOR | "Range" | "RangeInclusive", "fold" | "try_fold") => vec![None, held(of, 0)],
        (ITERATOR | "Range" | "RangeInclusive", _) if GIVEN_EACH.contains(&method) => {
            vec![held(of, 0)]
        }
        ("Option" | "Result", _) if GIVEN_HELD.contains(&method) => vec![held(of, 0)],
        ("Vec" | "VecDeque", "retain" | "retain_mut") => vec![held(of, 0)],
        ("[]" | "Vec", "sort_by" | "sort_unstable_by") => vec![held(of, 0), held(of, 0)],
        ("[]" | "Vec", "sort_by_key" | "sort_by_cached_key" | "sort_unstable_by_key") => {
            vec![held(of, 0)]
        }
        _ => Vec::new(),
    }
}

/// A type of another library, with its type arguments.
pub(super) fn outside(name: &str, of: Vec<Option<ReceiverKind>>) -> ReceiverKind {
    ReceiverKind::Outside(name.to_owned(), of)
}

fn held(of: &[Option<ReceiverKind>], at: usize) -> Option<ReceiverKind> {
    of.get(at).cloned().flatten()
}

/// What a `for` takes out of a value, one after the other.
pub(super) fn element(kind: &ReceiverKind) -> Option<ReceiverKind> {
    let ReceiverKind::Outside(name, of) = kind else {
        return None;
    };
    match name.as_str() {
        name if OF_ONE.contains(&name) => held(of, 0),
        name if OF_PAIRS.contains(&name) => Some(outside("()", of.clone())),
        _ => None,
    }
}

/// What stands at an index; `range` where the index is one.
pub(super) fn at_index(kind: &ReceiverKind, range: bool) -> Option<ReceiverKind> {
    let ReceiverKind::Outside(name, of) = kind else {
        return None;
    };
    match name.as_str() {
        "[]" | "Vec" | "VecDeque" if range => Some(kind.clone()),
        "[]" | "Vec" | "VecDeque" => held(of, 0),
        name if OF_PAIRS.contains(&name) => held(of, 1),
        _ => None,
    }
}

/// What is in a value that `?`, or a pattern of `Some` and the like, takes it from.
pub(super) fn inside(kind: &ReceiverKind, at: usize) -> Option<ReceiverKind> {
    match kind {
        ReceiverKind::Outside(name, of) if matches!(name.as_str(), "Option" | "Result") => {
            held(of, at)
        }
        _ => None,
    }
}

/// What a method of a type of another library gives.
pub(super) fn result(
    (name, of): (&str, &[Option<ReceiverKind>]),
    method: &str,
) -> Option<ReceiverKind> {
    let itself = || outside(name, of.to_vec());
    let optional = |held: Option<ReceiverKind>| Some(outside("Option", vec![held]));
    let may_be_none = matches!(name, "Option" | "Result");
    let is_list = matches!(
        name,
        "[]" | "str" | "String" | "Vec" | "VecDeque" | "BTreeSet" | "HashSet"
    ) || OF_PAIRS.contains(&name);
    match method {
        "len" if is_list => Some(outside("usize", Vec::new())),
        "is_empty" if is_list => Some(outside("bool", Vec::new())),
        "iter" | "iter_mut" | "into_iter" | "drain" => {
            let element = element(&itself())?;
            Some(outside(ITERATOR, vec![Some(element)]))
        }
        "keys" | "into_keys" if OF_PAIRS.contains(&name) => {
            Some(outside(ITERATOR, vec![held(of, 0)]))
        }
        "values" | "values_mut" | "into_values" if OF_PAIRS.contains(&name) => {
            Some(outside(ITERATOR, vec![held(of, 1)]))
        }
        "get" | "get_mut" | "remove" if OF_PAIRS.contains(&name) => optional(held(of, 1)),
        "get" | "get_mut" if matches!(name, "[]" | "Vec" | "VecDeque") => optional(held(of, 0)),
        "ok" if name == "Result" => optional(held(of, 0)),
        "ok_or" | "ok_or_else" if name == "Option" => {
            Some(outside("Result", vec![held(of, 0), None]))
        }
        "enumerate" if name == ITERATOR => {
            let pair = outside("()", vec![Some(outside("usize", Vec::new())), held(of, 0)]);
            Some(outside(ITERATOR, vec![Some(pair)]))
        }
        "lock" | "borrow" | "borrow_mut" | "read" | "write" => None,
        _ if UNWRAP.contains(&method) && may_be_none => held(of, 0),
        _ if GIVE_ONE.contains(&method) && OF_ONE.contains(&name) => optional(held(of, 0)),
        _ if THE_SAME.contains(&method) => Some(itself()),
        _ if ADAPTERS.contains(&method) && name == ITERATOR => Some(itself()),
        _ => None,
    }
}
