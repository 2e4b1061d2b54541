//! C sources of ours that become part of the host module.

use super::super::CodegenError;
use crate::build::Build;
use crate::cache::{self, Entry};
use crate::program::Program;
use crate::tools::Toolchain;
use crate::tools::command::run_tool;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{Linkage, Module};
use std::ffi::OsString;
use std::path::Path;

/// A C source of ours.
pub(in crate::codegen) struct HostLibrary<'a> {
    /// Its name without the ending.
    pub(in crate::codegen) name: &'a str,
    /// What is in it.
    pub(in crate::codegen) source: &'a str,
    /// Macros, as `-D` takes them.
    pub(in crate::codegen) macros: Vec<String>,
    /// The functions that the program's own code calls.
    pub(in crate::codegen) functions: &'a [&'a str],
}

impl HostLibrary<'_> {
    /// Puts it into the host module, where its functions are then nobody else's.
    ///
    /// # Errors
    /// When clang fails or what it makes does not fit: our bugs.
    pub(in crate::codegen) fn link_into(
        &self,
        program: &Program<'_>,
        (build, toolchain): (&Build, &Toolchain),
        folder: &Path,
    ) -> Result<(), CodegenError> {
        let kept = self.place_in_cache(toolchain).filter(|_| !build.verbose);
        let bitcode = match kept.as_ref().and_then(Entry::take).as_deref() {
            Some([bitcode]) => bitcode.clone(),
            _ => {
                let bitcode = self.compile((build, toolchain), folder)?;
                if let Some(entry) = &kept {
                    entry.keep(&[&bitcode]);
                }
                bitcode
            }
        };
        let llvm = |error: inkwell::support::LLVMString| CodegenError::Llvm(error.to_string());
        let bitcode = MemoryBuffer::create_from_memory_range_copy(&bitcode, self.name);
        let library = Module::parse_bitcode_from_buffer(&bitcode, program.context).map_err(llvm)?;
        library.set_triple(&program.host.get_triple());
        library.set_data_layout(&program.host.get_data_layout());
        // What the library calls of another one must not be taken for something that only bears the name.
        let called = library.get_functions().filter_map(|function| {
            let own = program
                .host
                .get_function(function.get_name().to_str().ok()?)?;
            let hidden = own.get_linkage() == Linkage::Internal && own.count_basic_blocks() > 0;
            (function.count_basic_blocks() == 0 && hidden).then_some(own)
        });
        let called: Vec<_> = called.collect();
        for function in &called {
            function.set_linkage(Linkage::External);
        }
        program.host.link_in_module(library).map_err(llvm)?;
        for function in called {
            function.set_linkage(Linkage::Internal);
        }
        for name in self.functions {
            let function = program.host.get_function(name);
            let function = function
                .ok_or_else(|| CodegenError::Inconsistent(format!("no function {name}")))?;
            function.set_linkage(Linkage::Internal);
        }
        Ok(())
    }

    /// Where its bitcode is kept, which nothing of a program has a part in.
    fn place_in_cache(&self, toolchain: &Toolchain) -> Option<Entry> {
        let mut made_from = cache::tools_as_text([toolchain.clang.as_path()])?.into_bytes();
        cache::put(&mut made_from, self.macros.join("\n").as_bytes());
        cache::put(&mut made_from, self.source.as_bytes());
        Entry::of("host", made_from)
    }

    /// Its bitcode.
    fn compile(
        &self,
        (build, toolchain): (&Build, &Toolchain),
        folder: &Path,
    ) -> Result<Vec<u8>, CodegenError> {
        let source = folder.join(format!("{}.c", self.name));
        std::fs::write(&source, self.source).map_err(CodegenError::write(&source))?;
        let bitcode = folder.join(format!("{}.bc", self.name));
        let mut arguments: Vec<OsString> = ["-x", "c", "-std=gnu11", "-O2", "-c", "-emit-llvm"]
            .map(OsString::from)
            .to_vec();
        arguments.push("-fPIC".into());
        let macros = self.macros.iter();
        arguments.extend(macros.map(|each| format!("-D{each}").into()));
        arguments.extend([source.into(), "-o".into(), bitcode.clone().into()]);
        run_tool(&toolchain.clang, &arguments, build)?;
        std::fs::read(&bitcode).map_err(CodegenError::write(&bitcode))
    }
}
