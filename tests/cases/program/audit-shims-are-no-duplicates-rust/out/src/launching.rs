//! [`launch_left`], [`launch_right`].

use crate::a::Left;
use crate::b::Right;

pub fn launch_left(
    left: &Left,
    first: u32,
    second: u32,
    third: u32,
    fourth: u32,
    fifth: u32,
    sixth: u32,
    seventh: u32,
) -> u32 {
    left.width + first * second - third / fourth + fifth * sixth * seventh
}

pub fn launch_right(
    right: &Right,
    first: u32,
    second: u32,
    third: u32,
    fourth: u32,
    fifth: u32,
    sixth: u32,
    seventh: u32,
) -> u32 {
    first.max(second).min(third) ^ fourth ^ (fifth | sixth) ^ right.width ^ seventh
}
