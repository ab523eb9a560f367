//! Libraries that are looked up while the program runs, and their functions. A loaded library stays
//! loaded: none of them can be unloaded safely.

use std::path::PathBuf;

use libloading::Library;

use crate::error::Absent;

/// A function of a library.
#[derive(Clone, Copy, Debug)]
pub struct Call<F> {
    /// What errors call it: its exported name without what says which version of it is asked for.
    pub(crate) name: &'static str,
    /// It answers with the library's code; zero is success.
    pub(crate) function: F,
}

/// The first of the names that can be loaded: each below the folder, where there is one, then as the
/// loader finds it.
pub(crate) fn load(
    platform: &'static str,
    names: &[&str],
    folder: Option<PathBuf>,
) -> Result<&'static Library, Absent> {
    let below = folder.iter();
    let below = below.flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let mut last = String::new();
    for name in below.chain(names.iter().map(PathBuf::from)) {
        // SAFETY: loading the library runs its initialisers, which is what any program that links
        // to it does.
        match unsafe { Library::new(&name) } {
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) => last = error.to_string(),
        }
    }
    Err(Absent::Library {
        platform,
        tried: format!("{}: {last}", names.join(", ")),
    })
}

/// A function of a library, which errors call `library`.
///
/// # Safety
/// `F` is the documented type of the function of this name.
pub(crate) unsafe fn find<F: Copy>(
    from: &'static Library,
    library: &'static str,
    symbol: &'static str,
) -> Result<F, Absent> {
    // SAFETY: the caller's promise.
    let found = unsafe { from.get::<F>(symbol.as_bytes()) };
    let missing = |_| Absent::Symbol { library, symbol };
    found.map(|function| *function).map_err(missing)
}

/// What errors and the simulator's faults call a function: versions of one function (`_v2`, `WithFlags`) have one
/// name.
pub(crate) fn short_name(symbol: &'static str) -> &'static str {
    let name = symbol.strip_suffix("_v2").unwrap_or(symbol);
    name.strip_suffix("WithFlags").unwrap_or(name)
}

/// A table of a library's functions, each of which answers with a code. `required` ones must all be
/// there; each of the `optional` ones may be missing. What is `shared` is a structure of [`Call`]s that
/// tables of several libraries have: its types are the functions' documented ones.
macro_rules! table {
    (
        $visible:vis library: $library:literal;
        $(shared $group:ident: $calls:ident $(<$address:ty>)? {
            $($shared:ident = $shared_symbol:literal;)*
        })*
        required { $($field:ident = $symbol:literal: fn($($argument:ty),* $(,)?);)* }
        $(optional {
            $($maybe:ident = $maybe_symbol:literal: fn($($maybe_argument:ty),* $(,)?);)*
        })?
    ) => {
        /// The functions. Each answers with the library's code; zero is success.
        #[derive(Debug)]
        $visible struct Table {
            $($visible $group: $calls $(<$address>)?,)*
            $($visible $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
            $($($visible $maybe: Option<unsafe extern "C" fn($($maybe_argument),*) -> c_int>,)*)?
        }

        impl Table {
            /// The functions, looked up at the first call. What is missing then is missing for this
            /// process.
            $visible fn loaded(
                load: impl FnOnce() -> Result<&'static libloading::Library, Absent>,
            ) -> Result<&'static Self, Absent> {
                static TABLE: std::sync::OnceLock<Result<Table, Absent>> =
                    std::sync::OnceLock::new();
                let found = TABLE.get_or_init(|| Self::find(load()?));
                found.as_ref().map_err(Clone::clone)
            }

            fn find(library: &'static libloading::Library) -> Result<Self, Absent> {
                use $crate::dynamic;
                Ok(Self {
                    $($group: $calls {
                        $($shared: dynamic::Call {
                            name: dynamic::short_name($shared_symbol),
                            // SAFETY: the group has the documented type of the function of this name.
                            function: unsafe {
                                dynamic::find(library, $library, $shared_symbol)
                            }?,
                        },)*
                    },)*
                    // SAFETY: this is the documented type of the function of this name.
                    $($field: unsafe { dynamic::find(library, $library, $symbol) }?,)*
                    // SAFETY: as above.
                    $($($maybe: unsafe { dynamic::find(library, $library, $maybe_symbol) }.ok(),)*)?
                })
            }
        }

        /// The names of the functions without which nothing works.
        pub const REQUIRED_SYMBOLS: &[&str] = &[$($($shared_symbol,)*)* $($symbol),*];
        $(
            /// The names of the functions that may be missing.
            pub const OPTIONAL_SYMBOLS: &[&str] = &[$($maybe_symbol),*];
        )?
    };
}

pub(crate) use table;
