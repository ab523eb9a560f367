//! What an expression gives, as far as that says what using it runs, and who else has it.

use super::libraries::is_constant;

/// What an expression gives. A value that is not one of these first ones is told by what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AbstractValue {
    /// A number, a text or the like, which nothing changes.
    Constant,
    /// Made here, of builtins and known libraries alone: changing it changes nothing of others.
    Own,
    /// Of builtins and known libraries alone, and others have it, too.
    Shared,
    /// A container of anything.
    Container {
        /// Made here.
        own: bool,
        /// What all its elements are.
        element: Box<Self>,
    },
    /// What reading changes: an iterator, a file, a queue, a `defaultdict`.
    Stream {
        /// Made here.
        own: bool,
        /// What all that it gives are.
        element: Box<Self>,
    },
    /// Comparing it, showing it and reading an attribute of it run nothing; calling it runs what nobody knows.
    Code {
        /// Made here.
        own: bool,
    },
    /// Nobody knows.
    Unknown,
    /// A module of the tree.
    Module(usize),
    /// A class of the tree.
    Class(usize, String),
    /// A function of the tree.
    Function(usize, String),
    /// A method of a class of the tree, as the class or an object has it.
    Method {
        home: usize,
        class: String,
        name: String,
        /// The object is made here.
        own: bool,
    },
    /// An object of a class of the tree.
    Instance {
        home: usize,
        class: String,
        own: bool,
    },
    /// Something of another library, by its full name.
    Outside(String),
    /// Something that Python has without any import.
    Builtin(String),
}

impl AbstractValue {
    /// What another library has by this full name.
    pub fn outside(name: String) -> Self {
        match is_constant(&name) {
            true => Self::Constant,
            false => Self::Outside(name),
        }
    }

    /// An object of a class of the tree.
    pub fn instance(home: usize, class: &str, own: bool) -> Self {
        Self::Instance {
            home,
            class: class.to_owned(),
            own,
        }
    }

    /// A method of a class of the tree.
    pub fn method(home: usize, class: String, name: &str, own: bool) -> Self {
        Self::Method {
            home,
            class,
            name: name.to_owned(),
            own,
        }
    }

    /// The module and the name of a class of the tree, where it is one.
    pub fn into_class(self) -> Option<(usize, String)> {
        match self {
            Self::Class(home, class) => Some((home, class)),
            _ => None,
        }
    }

    /// How much is not known of it; the worse of two holds where both are possible.
    fn rank(&self) -> u8 {
        match self {
            Self::Constant => 0,
            Self::Own => 1,
            Self::Shared => 2,
            Self::Code { own: true } => 3,
            Self::Code { own: false } => 4,
            _ => 9,
        }
    }

    /// What is told by what it is, as anything of its kind.
    #[must_use]
    pub fn in_general(self) -> Self {
        match self {
            Self::Module(_)
            | Self::Class(..)
            | Self::Function(..)
            | Self::Method { .. }
            | Self::Outside(_)
            | Self::Builtin(_) => Self::Code { own: false },
            Self::Instance { .. } => Self::Unknown,
            other => other,
        }
    }

    /// What holds of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == other || other == Self::Constant {
            return self;
        }
        if self == Self::Constant {
            return other;
        }
        match (self, other) {
            (
                Self::Stream { own, element },
                Self::Stream {
                    own: too,
                    element: two,
                },
            ) => Self::Stream {
                own: own && too,
                element: Box::new(element.or(*two)),
            },
            (Self::Container { own, element }, other)
            | (other, Self::Container { own, element }) => Self::container_or(own, *element, other),
            (one, two) => one.worse_in_general(two),
        }
    }

    /// What holds of a container and of what may be there instead.
    fn container_or(own: bool, element: Self, other: Self) -> Self {
        let (own, element) = match other {
            Self::Container {
                own: too,
                element: two,
            } => (own && too, element.or(*two)),
            Self::Own | Self::Shared => (own && other.is_own(), element.or(other)),
            _ => return Self::Unknown,
        };
        Self::Container {
            own,
            element: Box::new(element),
        }
    }

    /// The worse of two values, as anything of its kind.
    fn worse_in_general(self, other: Self) -> Self {
        let (one, two) = (self.in_general(), other.in_general());
        match one.rank() >= two.rank() {
            true => one,
            false => two,
        }
    }

    /// The same as another module has it.
    #[must_use]
    pub fn for_others(self) -> Self {
        match self {
            Self::Own => Self::Shared,
            Self::Container { element, .. } => Self::Container {
                own: false,
                element: Box::new(element.for_others()),
            },
            Self::Stream { element, .. } => Self::Stream {
                own: false,
                element: Box::new(element.for_others()),
            },
            Self::Code { .. } => Self::Code { own: false },
            Self::Instance { home, class, .. } => Self::Instance {
                home,
                class,
                own: false,
            },
            other => other,
        }
    }

    /// Whether all that can be done to it runs builtins and known libraries alone.
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Constant | Self::Own | Self::Shared)
    }

    /// Whether its own methods are those of builtins and known libraries, whatever its elements are.
    pub fn is_of_builtins(&self) -> bool {
        self.is_known() || matches!(self, Self::Container { .. } | Self::Stream { .. })
    }

    /// Whether nobody but the text has it that is executed.
    pub fn is_own(&self) -> bool {
        matches!(
            self,
            Self::Constant
                | Self::Own
                | Self::Container { own: true, .. }
                | Self::Stream { own: true, .. }
                | Self::Code { own: true }
                | Self::Instance { own: true, .. }
        )
    }

    /// Whether comparing and showing it, or asking whether it is true, runs nothing of the tree.
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Unknown | Self::Instance { .. } => false,
            Self::Container { element, .. } => element.is_plain(),
            _ => true,
        }
    }

    /// An element of it.
    #[must_use]
    pub fn element(&self) -> Self {
        match self {
            Self::Constant => Self::Constant,
            Self::Own => Self::Own,
            Self::Shared => Self::Shared,
            Self::Container { element, .. } | Self::Stream { element, .. } => (**element).clone(),
            _ => Self::Unknown,
        }
    }

    /// Whether asking for its length, or whether it is true, runs nothing of the tree.
    pub fn has_plain_length(&self) -> bool {
        self.is_plain() || matches!(self, Self::Container { .. })
    }

    /// What gives such elements and is made here; `of` is what it takes them from.
    #[must_use]
    pub fn stream_of(elements: Self, of: &[Self]) -> Self {
        Self::Stream {
            own: !of.iter().any(Self::is_used_up),
            element: Box::new(elements),
        }
    }

    /// What is left of it once somebody has gone through it.
    #[must_use]
    pub fn gone_through(self) -> Self {
        match self {
            Self::Stream { element, .. } => Self::container_of(*element),
            other => other,
        }
    }

    /// Whether reading it changes what others have, too.
    pub fn is_used_up(&self) -> bool {
        matches!(self, Self::Stream { own: false, .. })
    }

    /// A container made here of such elements.
    #[must_use]
    pub fn container_of(elements: Self) -> Self {
        match elements {
            Self::Constant | Self::Own => Self::Own,
            elements => Self::Container {
                own: true,
                element: Box::new(elements),
            },
        }
    }
}
