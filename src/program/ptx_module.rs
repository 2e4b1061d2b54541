//! A PTX file -> a program of that device module alone.

use super::{
    DeviceVariable, HostVisibleMemory, Kernel, KernelId, Program, ProgramError, Unit,
    canonicalise_device,
};
use crate::build::{Build, Input};
use crate::diagnostics::Location;
use crate::ptx;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use std::collections::BTreeMap;

/// The architecture that a PTX file is for.
///
/// # Errors
/// [`ProgramError::Ptx`]: it is no PTX.
pub fn ptx_architecture(input: &Input, text: &str) -> Result<u32, ProgramError> {
    let module = ptx::parse(text).map_err(located(input))?;
    Ok(module.architecture)
}

/// Reads a PTX file as the device side of a program without a host side.
///
/// # Errors
/// [`ProgramError::Ptx`] for what is no PTX or is not understood, others for a bug of the reader.
pub fn read_ptx<'ctx>(
    context: &'ctx Context,
    (input, text): (&Input, &str),
    build: &Build,
) -> Result<Program<'ctx>, ProgramError> {
    let name = input.path.display().to_string();
    let module = ptx::parse(text).map_err(located(input))?;
    let made = ptx::device_module(&module, &name).map_err(located(input))?;
    let unreadable = |message: String| ProgramError::Pass {
        pipeline: format!("reading {name}"),
        message,
    };
    let buffer = MemoryBuffer::create_from_memory_range_copy(
        format!("{}\0", made.text).as_bytes(),
        "PTX module",
    );
    let device = context
        .create_module_from_ir(buffer)
        .map_err(|error| unreadable(error.to_string()))?;
    super::passes::verify(&device, "reading PTX")?;
    let architecture = build.oldest_target().number;
    canonicalise_device::decide_numerics(&device, build.numerics, architecture)?;
    let kernels: Vec<Kernel> = module
        .items
        .iter()
        .filter_map(|item| match item {
            ptx::Item::Function(function) if function.is_kernel && function.body.is_some() => {
                Some(&function.name)
            }
            _ => None,
        })
        .enumerate()
        .map(|(index, name)| Kernel {
            id: KernelId(index),
            name: name.clone(),
            unique_name: name.clone(),
            stub: String::new(),
            unit: 0,
            iteration_of: None,
            ended_threads_wait: false,
        })
        .collect();
    let variables = made.managed.iter().map(|(name, bytes)| DeviceVariable {
        name: name.clone(),
        unique_name: name.clone(),
        shadow: String::new(),
        unit: 0,
        bytes: *bytes,
        constant: false,
        managed: true,
    });
    let variables: Vec<DeviceVariable> = variables.collect();
    let units = vec![Unit {
        source: input.path.clone(),
        device,
        newer: Vec::new(),
        differing: BTreeMap::new(),
        image_global: String::new(),
    }];
    let analysis = canonicalise_device::analysis_module(
        context,
        (&units, None, &BTreeMap::new()),
        &kernels,
        &variables,
        architecture,
    )?;
    Ok(Program {
        context,
        host: context.create_module("host"),
        variables,
        units,
        bitcode: None,
        operations: None,
        iterations: BTreeMap::new(),
        analysis,
        kernels,
        host_visible_memory: HostVisibleMemory::Anything,
        closed: false,
        mapping_function: None,
        graph_chains: Vec::new(),
        warnings: String::new(),
    })
}

fn located(input: &Input) -> impl Fn(ptx::PtxError) -> ProgramError + '_ {
    |error| ProgramError::Ptx {
        location: Location {
            file: input.path.display().to_string(),
            line: error.line(),
            column: 0,
        },
        error,
    }
}
