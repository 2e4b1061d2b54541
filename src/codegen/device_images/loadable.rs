//! Device code as files that programs for the CPU device load when they run (`cuModuleLoad`).
//!
//! Machine code for that device is a shared library: `-cubin` and `-fatbin` write it. `-ptx` writes PTX as
//! for any GPU, and behind it the library in comments, so that either device finds what it can run.
//!
//! Invariant: the library asks nothing of the program that loads it but what its own table names: it calls
//! the runtime through places that the runtime fills, since programs do not export their functions. The
//! runtime's side is `runtime_shim::api::driver::loaded`.

use super::super::images::{Workbench, emit_whole_image};
use super::super::ptx::emit_ptx;
use super::super::{CodegenError, DeviceImage};
use crate::build::Phase;
use crate::program::Program;
use crate::tools::run_tool;
use inkwell::module::Module;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// The file of a module of device IR for the CPU device, and what the tools said.
///
/// # Errors
/// A tool failed, or a file cannot be written.
pub(in crate::codegen) fn emit_loadable(
    program: &Program<'_>,
    module: &Module<'_>,
    bench: &Workbench<'_>,
) -> Result<Vec<u8>, CodegenError> {
    let managed = program.variables.iter().filter(|variable| variable.managed);
    let managed: Vec<String> = managed.map(|variable| variable.name.clone()).collect();
    let (build, toolchain) = (bench.build, bench.toolchain());
    let text = match build.phase {
        Phase::Ptx => Some(emit_ptx(module, build.oldest_target(), build, toolchain)?),
        _ => None,
    };
    let image = emit_whole_image(module, &managed, bench)?;
    let DeviceImage::CpuObjects { objects, symbol } = image else {
        return Err(CodegenError::NoDeviceCode);
    };
    let mut functions = BTreeSet::new();
    for object in &objects {
        let bytes = std::fs::read(object).map_err(CodegenError::write(object))?;
        functions.extend(runtime_functions(&bytes));
    }
    let table = bench.path().join("module_table.s");
    let written = std::fs::write(&table, table_of(&symbol, &functions));
    written.map_err(CodegenError::write(&table))?;
    let library = bench.path().join("module.so");
    let place = |path: &Path| path.display().to_string();
    let mut arguments = vec!["-shared".to_owned(), "-nostartfiles".to_owned()];
    arguments.extend(objects.iter().map(|object| place(object)));
    arguments.extend([
        place(&table),
        "-o".to_owned(),
        place(&library),
        "-lm".to_owned(),
    ]);
    run_tool(&toolchain.clang, &arguments, build)?;
    let library = std::fs::read(&library).map_err(CodegenError::write(&library))?;
    Ok(match text {
        Some(text) => with_library(&text, &library).into_bytes(),
        None => library,
    })
}

/// Begins each line of the library in PTX; the runtime looks for it.
const LINE: &str = "//sirius-cpu:";

/// PTX with a library behind it.
fn with_library(ptx: &str, library: &[u8]) -> String {
    let mut text = ptx.trim_end().to_owned();
    text.push_str("\n\n// The same code for the CPU device of sirius-rs:\n");
    for line in library.chunks(60) {
        text.push_str(LINE);
        for byte in line {
            // A string takes everything.
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    text
}

/// The runtime's functions that an object calls.
fn runtime_functions(object: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(object) else {
        return Vec::new();
    };
    let undefined = file.symbols().filter(|symbol| symbol.is_undefined());
    let names = undefined.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    names
        .filter(|name| name.starts_with("__sirius_") && name != ZERO)
        .collect()
}

/// A number that code must not know to be zero. It is the same in all libraries, so that each has its own.
const ZERO: &str = "__sirius_zero";

/// The library's table as assembly: a first word that says what it is, its image, and the names of the
/// runtime's functions with the places for their addresses, through which calls of them jump.
fn table_of(image: &str, functions: &BTreeSet<String>) -> String {
    let mut text = format!(
        ".section .data.rel.ro,\"aw\",@progbits\n.balign 8\n.globl sirius_loadable\n\
         .type sirius_loadable,@object\nsirius_loadable:\n.ascii \"SIRIUSLD\"\n.quad {image}\n\
         .quad {}\n.quad .Lnames\n.quad .Lplaces\n.size sirius_loadable,40\n.Lnames:\n",
        functions.len()
    );
    let mut strings = ".section .rodata,\"a\",@progbits\n".to_owned();
    let mut jumps = ".text\n".to_owned();
    for (index, name) in functions.iter().enumerate() {
        // A string takes everything.
        let _ = writeln!(text, ".quad .Lname{index}");
        let _ = writeln!(strings, ".Lname{index}: .asciz \"{name}\"");
        let _ = writeln!(
            jumps,
            ".globl {name}\n.hidden {name}\n.type {name},@function\n{name}: jmp *.Lplaces+{}(%rip)",
            8 * index
        );
    }
    let places = format!(
        ".bss\n.balign 8\n.Lplaces: .zero {}\n",
        8 * functions.len().max(1)
    );
    let zero = format!(
        ".section .rodata\n.balign 8\n.globl {ZERO}\n.hidden {ZERO}\n.type {ZERO},@object\n{ZERO}: .quad 0\n\
         .size {ZERO},8\n"
    );
    text + &strings + &places + &zero + &jumps + ".section .note.GNU-stack,\"\",@progbits\n"
}
