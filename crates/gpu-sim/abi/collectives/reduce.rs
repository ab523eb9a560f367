//! What collectives do with elements. Sums run in the order of the ranks, so that the result is the
//! same in each run.

use crate::{Failure, INVALID_USAGE, wire::Shape};

/// Which collective.
pub const ALL_REDUCE: u64 = 0;
pub const BROADCAST: u64 = 1;
pub const REDUCE: u64 = 2;
pub const ALL_GATHER: u64 = 3;
pub const REDUCE_SCATTER: u64 = 4;

/// Bytes of an element.
///
/// # Errors
/// For a type that there is not, or not here.
pub fn element_bytes(element: u64) -> Result<u64, Failure> {
    match element {
        0 | 1 => Ok(1),
        2 | 3 | 7 => Ok(4),
        4 | 5 | 8 => Ok(8),
        6 | 9..=11 => {
            let why = "the simulation has no floats of less than four bytes";
            Err(Failure::new(INVALID_USAGE, why))
        }
        _ => Err(Failure::argument("this is no type")),
    }
}

/// What each rank gets for what all gave, in the order of the ranks.
///
/// # Errors
/// For types and operations that are none.
pub fn collective(shape: Shape, given: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Failure> {
    let ranks = given.len();
    let root = shape.root as usize;
    let only_root = |all: Vec<u8>| {
        let empty = (0..ranks).map(|_| Vec::new());
        let mut each: Vec<_> = empty.collect();
        if let Some(place) = each.get_mut(root) {
            *place = all;
        }
        each
    };
    match shape.kind {
        ALL_REDUCE => Ok(vec![combined(shape, given)?; ranks]),
        REDUCE => Ok(only_root(combined(shape, given)?)),
        BROADCAST => {
            let from = given.get(root).cloned();
            let from = from.ok_or_else(|| Failure::argument("the root is no rank"))?;
            Ok(vec![from; ranks])
        }
        ALL_GATHER => Ok(vec![given.concat(); ranks]),
        REDUCE_SCATTER => {
            let all = combined(shape, given)?;
            let part = (all.len() / ranks).max(1);
            let mut parts: Vec<_> = all.chunks(part).map(<[u8]>::to_vec).collect();
            parts.resize(ranks, Vec::new());
            Ok(parts)
        }
        _ => Err(Failure::argument("this is no collective")),
    }
}

fn combined(shape: Shape, given: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
    match shape.element {
        0 => all::<i8>(shape.operation, given),
        1 => all::<u8>(shape.operation, given),
        2 => all::<i32>(shape.operation, given),
        3 => all::<u32>(shape.operation, given),
        4 => all::<i64>(shape.operation, given),
        5 => all::<u64>(shape.operation, given),
        7 => all::<f32>(shape.operation, given),
        8 => all::<f64>(shape.operation, given),
        other => element_bytes(other).map(|_| Vec::new()),
    }
}

fn all<T: Element>(operation: u64, given: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
    let combine = match operation {
        0 | 4 => T::add,
        1 => T::multiply,
        2 => T::larger,
        3 => T::smaller,
        _ => return Err(Failure::argument("this is no operation")),
    };
    let mut ranks = given.iter().map(|bytes| T::read(bytes));
    let mut sum = ranks.next().unwrap_or_default();
    for other in ranks {
        for (to, from) in sum.iter_mut().zip(other) {
            *to = combine(*to, from);
        }
    }
    if operation == 4 {
        for element in &mut sum {
            *element = element.divided(given.len());
        }
    }
    Ok(T::write(&sum))
}

/// A type of elements.
trait Element: Copy {
    fn read(bytes: &[u8]) -> Vec<Self>;
    fn write(elements: &[Self]) -> Vec<u8>;
    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn larger(self, other: Self) -> Self;
    fn smaller(self, other: Self) -> Self;
    fn divided(self, ranks: usize) -> Self;
}

macro_rules! element {
    ($type:ty, $add:expr, $multiply:expr) => {
        impl Element for $type {
            fn read(bytes: &[u8]) -> Vec<Self> {
                let (whole, _) = bytes.as_chunks();
                whole.iter().map(|one| Self::from_ne_bytes(*one)).collect()
            }
            fn write(elements: &[Self]) -> Vec<u8> {
                elements.iter().flat_map(|one| one.to_ne_bytes()).collect()
            }
            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
            fn multiply(self, other: Self) -> Self {
                $multiply(self, other)
            }
            fn larger(self, other: Self) -> Self {
                if other > self { other } else { self }
            }
            fn smaller(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
            fn divided(self, ranks: usize) -> Self {
                self / ranks as Self
            }
        }
    };
}

element!(i8, i8::wrapping_add, i8::wrapping_mul);
element!(u8, u8::wrapping_add, u8::wrapping_mul);
element!(i32, i32::wrapping_add, i32::wrapping_mul);
element!(u32, u32::wrapping_add, u32::wrapping_mul);
element!(i64, i64::wrapping_add, i64::wrapping_mul);
element!(u64, u64::wrapping_add, u64::wrapping_mul);
element!(f32, |one, other| one + other, |one, other| one * other);
element!(f64, |one, other| one + other, |one, other| one * other);
