//! What is known of the type of a value, references included: who wants to hand a receiver over as an argument has
//! to say `&` or `&mut` where a dot says nothing.
//!
//! No inference: a type is known by what declares it. Whatever is not known stays unknown.

use crate::resolve::ItemId;

/// What is known of the type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A type of the tree, with its arguments as far as they were written.
    Item(ItemId, Vec<Value>),
    /// `&T`, or `&mut T`
    Reference(bool, Box<Value>),
    /// A type of the standard library by its last name, `[]` and `()` included.
    Standard(String, Vec<Value>),
    /// A type that has nothing to do with those of the tree: a number, a type parameter, an object of a trait.
    Other,
    Unknown,
}

/// Types that hand method calls on to what they hold.
const POINTERS: [&str; 12] = [
    "Arc",
    "Box",
    "LazyCell",
    "LazyLock",
    "ManuallyDrop",
    "MutexGuard",
    "OnceRef",
    "Rc",
    "Ref",
    "RefMut",
    "RwLockReadGuard",
    "RwLockWriteGuard",
];

/// Types of the standard library that hand nothing on to what they hold.
const CLOSED: [&str; 26] = [
    "()",
    "AtomicBool",
    "AtomicU32",
    "AtomicU64",
    "AtomicUsize",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Cell",
    "Duration",
    "HashMap",
    "HashSet",
    "Instant",
    "Mutex",
    "Option",
    "PathBuf",
    "PhantomData",
    "Range",
    "RefCell",
    "Result",
    "RwLock",
    "String",
    "Vec",
    "VecDeque",
    "[]",
    "iterator",
];

/// Methods that pointers have themselves, by traits of the language.
const OF_POINTERS: [&str; 20] = [
    "as_mut",
    "as_ref",
    "borrow",
    "borrow_mut",
    "clone",
    "clone_from",
    "cmp",
    "deref",
    "deref_mut",
    "eq",
    "fmt",
    "ge",
    "gt",
    "hash",
    "into",
    "le",
    "lt",
    "ne",
    "partial_cmp",
    "to_string",
];

/// How a receiver comes to the type that a method is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WayToType {
    /// It is a value of that type.
    Itself,
    /// It is so many references to one; whether the outermost is `&mut`.
    References(usize, bool),
    /// It is a pointer of the standard library to one.
    Pointer,
    /// It is a reference to such a pointer, or deeper; whether the outermost is `&mut`.
    ReferenceToPointer(bool),
}

/// Whether a method is called on a type of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CalledOnType {
    Is(WayToType),
    IsNot,
    Unknown,
}

impl CalledOnType {
    /// What is known of a call by what another type of the tree hands it on to: what a `Deref` of the tree gives
    /// is not taken out of it here.
    fn behind_another(is: Option<Self>) -> Self {
        match is {
            None | Some(Self::IsNot) => Self::IsNot,
            Some(_) => Self::Unknown,
        }
    }
}

/// What a receiver has been followed through.
#[derive(Default)]
struct StepsToType {
    /// References before the first pointer.
    references: usize,
    /// Whether the outermost is `&mut`.
    outer: Option<bool>,
    pointer: bool,
}

impl StepsToType {
    fn add_reference(&mut self, mutable: bool) {
        if !self.pointer {
            self.references += 1;
            self.outer = self.outer.or(Some(mutable));
        }
    }

    fn way(&self) -> WayToType {
        match (self.pointer, self.outer) {
            (false, None) => WayToType::Itself,
            (false, Some(mutable)) => WayToType::References(self.references, mutable),
            (true, None) => WayToType::Pointer,
            (true, Some(mutable)) => WayToType::ReferenceToPointer(mutable),
        }
    }
}

impl Value {
    pub fn standard(name: &str, of: Vec<Self>) -> Self {
        Self::Standard(name.to_owned(), of)
    }

    pub fn reference(mutable: bool, of: Self) -> Self {
        match of {
            Self::Unknown => Self::Unknown,
            of => Self::Reference(mutable, Box::new(of)),
        }
    }

    /// The type behind all references, and whether the outermost of them is `&mut`, if there is one.
    pub fn behind(&self) -> (&Self, Option<bool>) {
        let (mut at, mut outer) = (self, None);
        while let Self::Reference(mutable, of) = at {
            outer = Some(outer.map_or(*mutable, |outer: bool| outer && *mutable));
            at = of;
        }
        (at, outer)
    }

    /// One of the arguments of a type.
    pub fn argument(&self, at: usize) -> Self {
        let of = match self {
            Self::Standard(_, of) | Self::Item(_, of) => of,
            _ => return Self::Unknown,
        };
        of.get(at).cloned().unwrap_or(Self::Unknown)
    }

    /// What a value that stands behind references gives, as one that stands behind them too.
    pub fn part(&self, part: Self) -> Self {
        match self.behind().1 {
            Some(mutable) => Self::reference(mutable, part),
            None => part,
        }
    }

    /// Whether a method of this name, called on the value, is that of the type; `handed_on` says of another type
    /// of the tree to what it hands such calls on, if it does.
    pub fn receiver(
        &self,
        of: ItemId,
        method: &str,
        handed_on: &dyn Fn(ItemId) -> Option<Self>,
    ) -> CalledOnType {
        let mut at = self;
        let mut steps = StepsToType::default();
        loop {
            match at {
                Self::Item(item, _) if *item == of => return CalledOnType::Is(steps.way()),
                Self::Item(item, _) => {
                    let behind = handed_on(*item);
                    let is = behind.map(|behind| behind.receiver(of, method, handed_on));
                    return CalledOnType::behind_another(is);
                }
                _ => {}
            }
            at = match at.next(method, &mut steps) {
                Ok(inner) => inner,
                Err(answer) => return answer,
            };
        }
    }

    /// What stands behind a reference, or behind a pointer that has no method of that name itself; else what is
    /// known of the call.
    fn next(&self, method: &str, steps: &mut StepsToType) -> Result<&Self, CalledOnType> {
        match self {
            Self::Reference(mutable, inner) => {
                steps.add_reference(*mutable);
                Ok(inner)
            }
            Self::Standard(name, held) if POINTERS.contains(&name.as_str()) => {
                steps.pointer = true;
                let inner = held.first().filter(|_| !OF_POINTERS.contains(&method));
                inner.ok_or(CalledOnType::Unknown)
            }
            Self::Standard(name, held) => {
                let closed = CLOSED.contains(&name.as_str())
                    || held.iter().all(|one| *one == Self::Other) && !held.is_empty();
                Err(match closed {
                    true => CalledOnType::IsNot,
                    false => CalledOnType::Unknown,
                })
            }
            Self::Other => Err(CalledOnType::IsNot),
            Self::Item(..) | Self::Unknown => Err(CalledOnType::Unknown),
        }
    }

    /// Whether fields and methods of what it holds are reached through it.
    pub fn shows_what_it_holds(&self) -> bool {
        let shows = ["Box", "Arc", "Rc", "MutexGuard", "Ref", "RefMut"];
        matches!(self, Self::Standard(name, _) if shows.contains(&name.as_str()))
    }
}

/// What a method of a type of the standard library gives.
pub(super) fn result(on: &Value, method: &str) -> Value {
    let Value::Standard(name, _) = on.behind().0 else {
        return Value::Unknown;
    };
    match name.as_str() {
        name if POINTERS.contains(&name) => of_pointer(on, name, method),
        "Mutex" | "RwLock" | "RefCell" | "OnceLock" | "OnceCell" => of_cell(on, name, method),
        "Option" | "Result" => of_option(on, name, method),
        "Vec" | "[]" | "VecDeque" | "HashSet" | "BTreeSet" => of_sequence(on, method),
        "HashMap" | "BTreeMap" => of_map(on, method),
        "iterator" => of_iterator(on, method),
        _ => Value::Unknown,
    }
}

fn option(of: Value) -> Value {
    match of {
        Value::Unknown => Value::Unknown,
        of => Value::standard("Option", vec![of]),
    }
}

fn iterator(of: Value) -> Value {
    Value::standard("iterator", vec![of])
}

fn shared(of: Value) -> Value {
    Value::reference(false, of)
}

fn mutable(of: Value) -> Value {
    Value::reference(true, of)
}

fn of_pointer(on: &Value, name: &str, method: &str) -> Value {
    let of = on.behind().0;
    let first = of.argument(0);
    match (name, method) {
        ("Arc" | "Rc", "clone") => of.clone(),
        ("Arc" | "Rc" | "Box", "as_ref") => shared(first),
        ("Box", "as_mut") => mutable(first),
        _ => result(&on.part(first), method),
    }
}

fn of_cell(on: &Value, name: &str, method: &str) -> Value {
    let first = on.behind().0.argument(0);
    match (name, method) {
        ("Mutex", "lock") => guarded("MutexGuard", first),
        ("RwLock", "read") => guarded("RwLockReadGuard", first),
        ("RwLock", "write") => guarded("RwLockWriteGuard", first),
        ("RefCell", "borrow") => Value::standard("Ref", vec![first]),
        ("RefCell", "borrow_mut") => Value::standard("RefMut", vec![first]),
        ("OnceLock" | "OnceCell", "get") => option(shared(first)),
        ("OnceLock" | "OnceCell", "get_or_init") => shared(first),
        _ => Value::Unknown,
    }
}

fn of_option(on: &Value, name: &str, method: &str) -> Value {
    let of = on.behind().0;
    let first = of.argument(0);
    match (name, method) {
        (_, "unwrap" | "expect" | "unwrap_or_default" | "unwrap_or_else" | "unwrap_or") => first,
        (_, "as_ref") => with_each(of, shared),
        (_, "as_mut") => with_each(of, mutable),
        ("Option", "take" | "filter" | "or_else" | "or") => of.clone(),
        ("Option", "get_or_insert_with" | "insert") => mutable(first),
        ("Option", "cloned" | "copied") => match first {
            Value::Reference(_, of) => option(*of),
            _ => Value::Unknown,
        },
        ("Option", "ok_or" | "ok_or_else") => {
            Value::standard("Result", vec![first, Value::Unknown])
        }
        ("Option", "iter") => iterator(shared(first)),
        ("Result", "ok") => option(first),
        _ => Value::Unknown,
    }
}

/// A type of the standard library with each of its arguments lent.
fn with_each(of: &Value, lent: fn(Value) -> Value) -> Value {
    match of {
        Value::Standard(name, held) => {
            Value::standard(name, held.iter().cloned().map(lent).collect())
        }
        _ => Value::Unknown,
    }
}

fn of_sequence(on: &Value, method: &str) -> Value {
    let (of, outer) = on.behind();
    let first = of.argument(0);
    match method {
        "first" | "last" | "front" | "back" => option(shared(first)),
        "first_mut" | "last_mut" | "front_mut" | "back_mut" => option(mutable(first)),
        "pop" | "pop_front" | "pop_back" => option(first),
        "iter" => iterator(shared(first)),
        "iter_mut" => iterator(mutable(first)),
        "drain" => iterator(first),
        "into_iter" => iterator(match outer {
            Some(outer) => Value::reference(outer, first),
            None => first,
        }),
        _ => Value::Unknown,
    }
}

fn of_map(on: &Value, method: &str) -> Value {
    let of = on.behind().0;
    let (key, value) = (of.argument(0), of.argument(1));
    match method {
        "get" => option(shared(value)),
        "get_mut" => option(mutable(value)),
        "remove" => option(value),
        "values" => iterator(shared(value)),
        "values_mut" => iterator(mutable(value)),
        "into_values" => iterator(value),
        "keys" => iterator(shared(key)),
        "iter" | "iter_mut" => {
            let value = Value::reference(method == "iter_mut", value);
            iterator(Value::standard("()", vec![shared(key), value]))
        }
        _ => Value::Unknown,
    }
}

fn of_iterator(on: &Value, method: &str) -> Value {
    let of = on.behind().0;
    let first = of.argument(0);
    match method {
        "next" | "last" | "nth" | "find" | "min_by_key" | "max_by_key" | "next_back" | "min_by"
        | "max_by" => option(first),
        "filter" | "skip" | "take" | "rev" | "chain" | "peekable" | "step_by" | "skip_while"
        | "take_while" | "inspect" | "cycle" | "by_ref" | "into_iter" | "fuse" => of.clone(),
        "cloned" | "copied" => match first {
            Value::Reference(_, of) => iterator(*of),
            _ => Value::Unknown,
        },
        "enumerate" => iterator(Value::standard("()", vec![Value::Other, first])),
        _ => Value::Unknown,
    }
}

fn guarded(guard: &str, of: Value) -> Value {
    let guard = Value::standard(guard, vec![of]);
    Value::standard("Result", vec![guard, Value::Unknown])
}

/// What a `for` takes out of a value, one after the other.
pub(super) fn element(of: &Value) -> Value {
    let (behind, outer) = of.behind();
    let Value::Standard(name, _) = behind else {
        return Value::Unknown;
    };
    let part = |part: Value| match outer {
        Some(outer) => Value::reference(outer, part),
        None => part,
    };
    match name.as_str() {
        "iterator" => behind.argument(0),
        "Vec" | "[]" | "VecDeque" | "Option" | "BTreeSet" | "HashSet" => part(behind.argument(0)),
        "HashMap" | "BTreeMap" => {
            let key = match outer {
                Some(_) => Value::reference(false, behind.argument(0)),
                None => behind.argument(0),
            };
            Value::standard("()", vec![key, part(behind.argument(1))])
        }
        _ => Value::Unknown,
    }
}

/// What a method gives to the closure that it is given.
pub(super) fn given(on: &Value, method: &str) -> Vec<Value> {
    let (of, _) = on.behind();
    let Value::Standard(name, _) = of else {
        return Vec::new();
    };
    let held = of.argument(0);
    let shared = Value::reference(false, held.clone());
    match (name.as_str(), method) {
        (
            "iterator",
            "map" | "for_each" | "any" | "all" | "flat_map" | "filter_map" | "find_map"
            | "position" | "try_for_each" | "map_while",
        ) => vec![held],
        (
            "iterator",
            "filter" | "find" | "skip_while" | "take_while" | "inspect" | "partition"
            | "max_by_key" | "min_by_key",
        ) => vec![shared],
        ("iterator", "fold" | "try_fold") => vec![Value::Unknown, held],
        ("iterator", "max_by" | "min_by") => vec![shared.clone(), shared],
        (
            "Option",
            "map" | "and_then" | "is_some_and" | "is_none_or" | "map_or" | "map_or_else",
        )
        | ("Result", "map" | "and_then" | "is_ok_and") => vec![held],
        ("Option", "filter" | "inspect") => vec![shared],
        ("Vec" | "VecDeque", "retain") => vec![shared],
        ("Vec" | "[]", "sort_by_key" | "sort_unstable_by_key" | "sort_by_cached_key") => {
            vec![shared]
        }
        ("Vec" | "[]", "sort_by" | "sort_unstable_by") => vec![shared.clone(), shared],
        _ => Vec::new(),
    }
}
