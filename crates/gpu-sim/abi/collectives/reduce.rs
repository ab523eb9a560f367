//! What collectives do with elements. Sums run in the order of the ranks, so that the result is the
//! same in each run.

use std::cmp::Ordering;

use crate::{Failure, INVALID_USAGE, wire::Shape};

/// Which collective.
pub const ALL_REDUCE: u64 = 0;
pub const BROADCAST: u64 = 1;
pub const REDUCE: u64 = 2;
pub const ALL_GATHER: u64 = 3;
pub const REDUCE_SCATTER: u64 = 4;
/// Halves of a message from one rank to another.
pub const SEND: u64 = 5;
pub const RECEIVE: u64 = 6;

/// Bytes of an element.
///
/// # Errors
/// For a type that there is not, or not here.
pub fn element_bytes(element: u64) -> Result<u64, Failure> {
    match element {
        0 | 1 => Ok(1),
        2 | 3 | 7 => Ok(4),
        4 | 5 | 8 => Ok(8),
        6 | 9 => Ok(2),
        10 | 11 => {
            let why = "the simulation has no floats of less than two bytes";
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
        6 => all::<Half>(shape.operation, given),
        9 => all::<BrainFloat>(shape.operation, given),
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
    ($type:ty, $add:expr, $multiply:expr, $divided:expr) => {
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
                $divided(self, ranks)
            }
        }
    };
}

macro_rules! whole {
    ($type:ident) => {
        element!(
            $type,
            $type::wrapping_add,
            $type::wrapping_mul,
            |sum, ranks| sum / ranks as $type
        );
    };
}

macro_rules! float {
    ($type:ident) => {
        element!(
            $type,
            |one, other| one + other,
            |one, other| one * other,
            |sum, ranks| sum / ranks as $type
        );
    };
}

whole!(i8);
whole!(u8);
whole!(i32);
whole!(u32);
whole!(i64);
whole!(u64);
float!(f32);
float!(f64);

/// A float of 16 bits with 5 of exponent, as its bits.
#[derive(Clone, Copy)]
struct Half(u16);

/// A float of 16 bits with 8 of exponent, as its bits.
#[derive(Clone, Copy)]
struct BrainFloat(u16);

impl Half {
    fn to_f32(self) -> f32 {
        let negative = self.0 & 0x8000 != 0;
        let (exponent, fraction) = ((self.0 >> 10) & 0x1f, f32::from(self.0 & 0x3ff) / 1024.0);
        let size = match exponent {
            0 => fraction * 2.0_f32.powi(-14),
            0x1f if fraction == 0.0 => f32::INFINITY,
            0x1f => f32::NAN,
            exponent => (1.0 + fraction) * 2.0_f32.powi(i32::from(exponent) - 15),
        };
        if negative { -size } else { size }
    }

    /// The nearest; of two as near the even one.
    fn of_f32(value: f32) -> Self {
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let size = value.abs();
        if value.is_nan() {
            return Self(sign | 0x7e00);
        }
        // Halfway between the largest number and what would follow it.
        if size >= 65_520.0 {
            return Self(sign | 0x7c00);
        }
        // In units of the last place: those below the smallest normal number are all the same.
        let exponent = ((size.to_bits() >> 23) as i32 - 127).max(-14);
        let units = (size / 2.0_f32.powi(exponent - 10)).round_ties_even() as u16;
        // A carry goes into the exponent, as it should.
        let biased = (exponent + 14) as u16;
        Self(sign | ((biased << 10) + units))
    }
}

impl BrainFloat {
    fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    /// The nearest; of two as near the even one.
    fn of_f32(value: f32) -> Self {
        let bits = value.to_bits();
        if value.is_nan() {
            return Self((bits >> 16) as u16 | 0x40);
        }
        let odd = (bits >> 16) & 1;
        Self((bits.wrapping_add(0x7fff + odd) >> 16) as u16)
    }
}

macro_rules! small_float {
    ($type:ident) => {
        impl $type {
            fn from_ne_bytes(bytes: [u8; 2]) -> Self {
                Self(u16::from_ne_bytes(bytes))
            }
            fn to_ne_bytes(self) -> [u8; 2] {
                self.0.to_ne_bytes()
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        element!(
            $type,
            |one: $type, other: $type| $type::of_f32(one.to_f32() + other.to_f32()),
            |one: $type, other: $type| $type::of_f32(one.to_f32() * other.to_f32()),
            |sum: $type, ranks| $type::of_f32(sum.to_f32() / ranks as f32)
        );
    };
}

small_float!(Half);
small_float!(BrainFloat);
