//! Kernels and device variables of a unit, from clang's registration code, and names that are
//! unique in the whole program.
//!
//! Without relocatable device code each unit has its own device symbols: two units may both have a
//! `__constant__ float c[4]`. Invariant: in the linked host module, stubs, shadows and images keep
//! their unit's identity because whatever is local to a unit was renamed before linking.

use super::super::{DeviceVariable, Kernel, KernelId};
use crate::build::Target;
use crate::llvm::{Linkage, Opcode, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// What a host module registers with the CUDA runtime.
#[derive(Debug, Default)]
pub(in crate::program) struct Registrations {
    /// Host stub and kernel name.
    pub(in crate::program) kernels: Vec<(String, String)>,
    /// Device variables.
    pub(in crate::program) variables: Vec<RegisteredVariable>,
    /// The global that holds the embedded device image.
    pub(in crate::program) image: Option<String>,
}

impl Registrations {
    /// Forgets kernels that the device side does not define for any architecture (the source gave the two sides
    /// different templates): a launch of one fails at run time, and is nothing to analyse.
    pub(in crate::program) fn keep_defined(
        &mut self,
        oldest: &Module<'_>,
        newer: &[(Target, Module<'_>)],
    ) {
        let defines = |device: &Module<'_>, name: &str| {
            Value::function(device, name).is_some_and(|kernel| !kernel.is_declaration())
        };
        self.kernels.retain(|(_, name)| {
            defines(oldest, name) || newer.iter().any(|(_, device)| defines(device, name))
        });
    }
}

/// Names what is local to a source as nvcc does in device code that a program loads by itself: the program asks for
/// a variable by the name that its source has, and may write it, and for a kernel as if it were not local.
pub(in crate::program) fn name_local_symbols_plainly(
    device: &Module<'_>,
    found: &mut Registrations,
) {
    let symbols = Value::functions(device)
        .into_iter()
        .chain(Value::globals(device));
    for symbol in symbols {
        let name = symbol.name();
        let Some(plain) = plain_name(&name) else {
            continue;
        };
        let mut variables = Value::globals(device).into_iter();
        if Value::function(device, &plain).is_some() || variables.any(|other| other.name() == plain)
        {
            continue;
        }
        symbol.set_name(&plain);
        if !plain.starts_with("_Z") {
            symbol.make_external();
            // What is in constant memory is a constant to kernels alone.
            symbol.expect_other_initial_value();
        }
        let variables = found
            .variables
            .iter_mut()
            .map(|variable| &mut variable.name);
        let kernels = found.kernels.iter_mut().map(|(_, kernel)| kernel);
        for registered in variables.chain(kernels) {
            if *registered == name {
                registered.clone_from(&plain);
            }
        }
    }
}

/// The name without clang's mark of what is local to a source, and with nothing else of C++ where a variable in no
/// namespace has it.
fn plain_name(name: &str) -> Option<String> {
    let local = name.strip_prefix("_ZL")?;
    let identifier = local.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let length = &local[..local.len() - identifier.len()];
    match length.parse::<usize>().ok()? == identifier.len() {
        true => Some(identifier.to_owned()),
        false => Some(format!("_Z{local}")),
    }
}

/// A device variable as registered.
#[derive(Clone, Debug)]
pub(in crate::program) struct RegisteredVariable {
    /// The host shadow.
    pub(in crate::program) shadow: String,
    /// Name in the device module.
    pub(in crate::program) name: String,
    /// Size.
    pub(in crate::program) bytes: u64,
    /// `__constant__`.
    pub(in crate::program) constant: bool,
    /// `__managed__`.
    pub(in crate::program) managed: bool,
}

/// Gives the symbols of unit `unit` that are local to it names that no other unit has.
pub(in crate::program) fn separate_local_symbols(host: &Module<'_>, unit: usize, units: usize) {
    if let Some(image) = image_global(host) {
        image.set_name(&format!("sirius.placeholder.{unit}"));
    }
    if units < 2 {
        return;
    }
    let symbols = Value::functions(host)
        .into_iter()
        .chain(Value::globals(host));
    for symbol in symbols {
        let name = symbol.name();
        if symbol.is_local()
            && !symbol.is_declaration()
            && !name.is_empty()
            && !name.starts_with("sirius.")
            && !name.starts_with("llvm.")
        {
            symbol.set_name(&format!("{name}.{unit}"));
        }
    }
}

/// Reads what clang's registration code of a host module says.
pub(in crate::program) fn registrations(host: &Module<'_>) -> Registrations {
    let mut found = Registrations {
        image: image_global(host).map(Value::name),
        ..Registrations::default()
    };
    for function in Value::functions(host) {
        for call in function.instructions() {
            let Some(called) = call.called_name() else {
                continue;
            };
            let arguments = call.call_arguments();
            let integer = |index: usize| {
                arguments
                    .get(index)
                    .and_then(|argument: &Value| argument.signed_integer())
                    .unwrap_or(0)
            };
            match called.as_str() {
                "__cudaRegisterFunction" => {
                    if let Some(name) = arguments[2].c_string() {
                        found.kernels.push((arguments[1].name(), name));
                    }
                }
                "__cudaRegisterVar" => {
                    if let Some(name) = arguments[2].c_string() {
                        found.variables.push(RegisteredVariable {
                            shadow: arguments[1].name(),
                            name,
                            bytes: integer(5).unsigned_abs(),
                            constant: integer(6) != 0,
                            managed: false,
                        });
                    }
                }
                "__cudaRegisterManagedVar" => {
                    if let Some(name) = arguments[3].c_string() {
                        found.variables.push(RegisteredVariable {
                            shadow: arguments[1].name(),
                            name,
                            bytes: integer(5).unsigned_abs(),
                            constant: false,
                            managed: true,
                        });
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The lists of kernels and variables of all units, with names that are unique in the program.
pub(in crate::program) fn assign(units: &[Registrations]) -> (Vec<Kernel>, Vec<DeviceVariable>) {
    let mut taken = BTreeSet::new();
    let mut unique = |name: &str, unit: usize| {
        let mut candidate = name.to_owned();
        if taken.contains(&candidate) {
            candidate = format!("{name}.{unit}");
        }
        taken.insert(candidate.clone());
        candidate
    };
    let (mut kernels, mut variables) = (Vec::new(), Vec::new());
    for (unit, registered) in units.iter().enumerate() {
        for (stub, name) in &registered.kernels {
            kernels.push(Kernel {
                id: KernelId(kernels.len()),
                name: name.clone(),
                unique_name: unique(name, unit),
                stub: stub.clone(),
                unit,
                iteration_of: None,
                ended_threads_wait: false,
            });
        }
        for variable in &registered.variables {
            variables.push(DeviceVariable {
                name: variable.name.clone(),
                unique_name: unique(&variable.name, unit),
                shadow: variable.shadow.clone(),
                unit,
                bytes: variable.bytes,
                constant: variable.constant,
                managed: variable.managed,
            });
        }
    }
    (kernels, variables)
}

/// Stubs that several units register (kernels of templates) while one of them has device variables:
/// which unit's kernel runs, and so whose variables it sees, is the runtime's choice.
pub(in crate::program) fn unclear_stubs(
    kernels: &[Kernel],
    variables: &[DeviceVariable],
) -> BTreeSet<String> {
    let mut units: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for kernel in kernels {
        units.entry(&kernel.stub).or_default().insert(kernel.unit);
    }
    let with_variables: BTreeSet<_> = variables.iter().map(|variable| variable.unit).collect();
    units
        .into_iter()
        .filter(|(_, units)| units.len() > 1 && !units.is_disjoint(&with_variables))
        .map(|(stub, _)| stub.to_owned())
        .collect()
}

/// Renames the symbols of a copy of unit `unit`'s device module for the merged analysis module.
pub(in crate::program) fn rename_device_symbols(
    copy: &Module<'_>,
    unit: usize,
    kernels: &[Kernel],
    variables: &[DeviceVariable],
) {
    let names: BTreeMap<&str, &str> = kernels
        .iter()
        .filter(|kernel| kernel.unit == unit && kernel.iteration_of.is_none())
        .map(|kernel| (kernel.name.as_str(), kernel.unique_name.as_str()))
        .chain(
            variables
                .iter()
                .filter(|variable| variable.unit == unit)
                .map(|variable| (variable.name.as_str(), variable.unique_name.as_str())),
        )
        .collect();
    for symbol in Value::functions(copy)
        .into_iter()
        .chain(Value::globals(copy))
    {
        let name = symbol.name();
        if let Some(unique) = names.get(name.as_str()) {
            if *unique != name {
                symbol.set_name(unique);
            }
            if !symbol.is_declaration() {
                // Kernels of templates are weak; this copy is the only one of its name.
                symbol.make_external();
            }
        } else if !symbol.is_declaration() && !name.starts_with("llvm.") {
            // Helpers and unregistered kernels: another unit's of the same name is another one.
            symbol.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
}

/// The private constant that `__cuda_fatbin_wrapper` points to.
fn image_global<'ctx>(host: &Module<'ctx>) -> Option<Value<'ctx>> {
    let wrapper = Value::globals(host)
        .into_iter()
        .find(|global| global.name().starts_with("__cuda_fatbin_wrapper"))?;
    let image = *wrapper.initializer()?.operands().get(2)?;
    if image.is_global_variable() {
        return Some(image);
    }
    // Under a constant expression.
    (image
        .opcode()
        .is_none_or(|opcode| opcode == Opcode::LLVMGetElementPtr))
    .then(|| image.operands().first().copied())
    .flatten()
    .filter(|inner| inner.is_global_variable())
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn local_names_as_nvcc_has_them() {
        for (name, plain) in [
            ("_ZL6option", Some("option")),
            ("_ZL2k2Pi", Some("_Z2k2Pi")),
            ("_ZL5valueIiE", Some("_Z5valueIiE")),
            ("_Z5valuev", None),
            ("_ZL", None),
            ("option", None),
        ] {
            assert_eq!(plain_name(name).as_deref(), plain, "{name}");
        }
    }
}
