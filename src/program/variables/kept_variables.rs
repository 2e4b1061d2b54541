//! Variables for a debugger: with `-G` those of the user's own device code stay in memory as long as they are in scope.
//!
//! The passes that turn a thread's memory into values, and those after them, keep what they cannot see through: a call of
//! `llvm.fake.use` takes the address of each such variable, and makes no code. Variables of headers of the toolkit and
//! of the system become values as ever, since their code counts on that.

use crate::build::{Build, Device};
use crate::llvm::{self, Builder, Opcode, Type, Value};
use crate::tools::Toolchain;
use inkwell::module::Module;
use std::collections::BTreeSet;
use std::path::Path;

/// Keeps the variables of a device module in memory, where the build asks for that.
pub(in crate::program) fn keep_variables(
    device: &Module<'_>,
    build: &Build,
    toolchain: &Toolchain,
) {
    if !build.device_debug || build.device != Device::Cpu {
        return;
    }
    let clang = toolchain.clang.canonicalize();
    let clang = clang
        .as_deref()
        .ok()
        .and_then(|clang| clang.parent()?.parent());
    let system: Vec<&Path> = [
        Some(toolchain.toolkit.as_path()),
        toolchain.compatibility_header.parent(),
        clang,
        Some(Path::new("/usr")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let is_users = |file: &str| {
        !system
            .iter()
            .any(|folder| Path::new(file).starts_with(folder))
    };
    let kept: BTreeSet<Value> = Value::functions(device)
        .into_iter()
        .flat_map(Value::instructions)
        .flat_map(Value::declared_variables)
        .filter(|(_, file)| is_users(file))
        .map(|(variable, _)| variable)
        .filter(|variable| variable.opcode() == Some(Opcode::LLVMAlloca))
        .collect();
    if kept.is_empty() {
        return;
    }
    let keeper = keeper(device);
    for variable in kept {
        Builder::after(variable).call_function(keeper, &[variable]);
    }
}

/// The function that takes addresses.
fn keeper<'ctx>(device: &Module<'ctx>) -> Value<'ctx> {
    let any = Type::function_of_any(Type::void(device));
    llvm::declare(device, "llvm.fake.use", any)
}
