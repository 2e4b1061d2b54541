//! C sources of ours that become part of the host module.

use super::CodegenError;
use crate::cli::command::run_tool;
use crate::cli::{Build, Toolchain};
use crate::program::Program;
use inkwell::module::{Linkage, Module};
use std::ffi::OsString;
use std::path::Path;

/// A C source of ours.
pub(super) struct HostLibrary<'a> {
    /// Its name without the ending.
    pub(super) name: &'a str,
    /// What is in it.
    pub(super) source: &'a str,
    /// Macros, as `-D` takes them.
    pub(super) macros: Vec<String>,
    /// The functions that the program's own code calls.
    pub(super) functions: &'a [&'a str],
}

impl HostLibrary<'_> {
    /// Puts it into the host module, where its functions are then nobody else's.
    ///
    /// # Errors
    /// When clang fails or what it makes does not fit: our bugs.
    pub(super) fn link_into(
        &self,
        program: &Program<'_>,
        (build, toolchain): (&Build, &Toolchain),
        folder: &Path,
    ) -> Result<(), CodegenError> {
        let source = folder.join(format!("{}.c", self.name));
        std::fs::write(&source, self.source).map_err(CodegenError::write(&source))?;
        let bitcode = folder.join(format!("{}.bc", self.name));
        let mut arguments: Vec<OsString> = ["-x", "c", "-std=c11", "-O2", "-c", "-emit-llvm"]
            .map(OsString::from)
            .to_vec();
        arguments.push("-fPIC".into());
        let macros = self.macros.iter();
        arguments.extend(macros.map(|each| format!("-D{each}").into()));
        arguments.extend([source.into(), "-o".into(), bitcode.clone().into()]);
        run_tool(&toolchain.clang, &arguments, build)?;
        let llvm = |error: inkwell::support::LLVMString| CodegenError::Llvm(error.to_string());
        let library = Module::parse_bitcode_from_path(&bitcode, program.context).map_err(llvm)?;
        library.set_triple(&program.host.get_triple());
        library.set_data_layout(&program.host.get_data_layout());
        program.host.link_in_module(library).map_err(llvm)?;
        for name in self.functions {
            let function = program.host.get_function(name);
            let function = function
                .ok_or_else(|| CodegenError::Inconsistent(format!("no function {name}")))?;
            function.set_linkage(Linkage::Internal);
        }
        Ok(())
    }
}
