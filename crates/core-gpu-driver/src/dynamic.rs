//! Libraries that are looked up while the program runs, and their functions. A loaded library stays
//! loaded: none of them can be unloaded safely.

#[cfg(feature = "cuda")]
use libloading::Library;

#[cfg(feature = "cuda")]
use crate::error::Absent;

/// The first of the names that can be loaded.
#[cfg(feature = "cuda")]
pub(crate) fn load(platform: &'static str, names: &[&str]) -> Result<&'static Library, Absent> {
    let mut last = String::new();
    for name in names {
        // SAFETY: loading the library runs its initialisers, which is what any program that links
        // to it does.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) => last = error.to_string(),
        }
    }
    Err(Absent::Library {
        platform,
        tried: format!("{}: {last}", names.join(", ")),
    })
}

/// A table of a library's functions, each of which answers with a code. `required` ones must all be
/// there; each of the `optional` ones may be missing.
macro_rules! table {
    (
        library: $library:literal;
        required { $($field:ident = $symbol:literal: fn($($argument:ty),* $(,)?);)* }
        optional { $($maybe:ident = $maybe_symbol:literal: fn($($maybe_argument:ty),* $(,)?);)* }
    ) => {
        /// The functions. Each answers with the library's code; zero is success.
        #[derive(Debug)]
        struct Table {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
            $($maybe: Option<unsafe extern "C" fn($($maybe_argument),*) -> c_int>,)*
        }

        impl Table {
            fn find(library: &'static libloading::Library) -> Result<Self, Absent> {
                Ok(Self {
                    $($field: {
                        // SAFETY: this is the documented type of the function of this name.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($argument),*) -> c_int>(
                                $symbol.as_bytes(),
                            )
                        };
                        *found.map_err(|_| Absent::Symbol {
                            library: $library,
                            symbol: $symbol,
                        })?
                    },)*
                    $($maybe: {
                        // SAFETY: as above.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($maybe_argument),*) -> c_int>(
                                $maybe_symbol.as_bytes(),
                            )
                        };
                        found.ok().map(|function| *function)
                    },)*
                })
            }
        }

        /// The names of the functions without which nothing works.
        pub const REQUIRED_SYMBOLS: &[&str] = &[$($symbol),*];
        /// The names of the functions that may be missing.
        pub const OPTIONAL_SYMBOLS: &[&str] = &[$($maybe_symbol),*];
    };
}

pub(crate) use table;
