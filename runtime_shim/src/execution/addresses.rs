//! The functions that compiled kernels call, by name.
//!
//! Invariant: each has the type that compilers call it by.

use super::{
    barrier::*, clusters::*, cooperative::*, device_functions::*, lockstep::*, overlap::*,
    shared_barrier::*, warp::*,
};
use crate::abi::{BlockContext, Texel, ThreadContext};
use crate::execution::textures::*;
use std::ffi::{c_char, c_void};

macro_rules! by_name {
    ($($function:ident: $ty:ty, $attributes:literal;)*) => {
        /// The address of the function of this name, or nothing when there is none.
        pub fn address_of(name: &[u8]) -> Option<usize> {
            $(
                if name == stringify!($function).as_bytes() {
                    let function: $ty = $function;
                    return Some(function as usize);
                }
            )*
            None
        }
    };
}

sirius_abi::functions_of_kernels! { by_name }
