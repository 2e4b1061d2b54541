//! The tables of an image: kernels and device variables by name.

use super::classify::Features;
use super::entry::{Entries, argument_offsets, argument_sizes};
use super::shared::KernelShared;
use super::{CpuImageRequest, Lowered, Variant};
use crate::codegen::{ARRIVALS, CodegenError};
use crate::llvm::{Type, Value};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use sirius_abi::{
    ABI_VERSION, CLUSTER_SHIFT, CpuImage, CpuKernel, CpuVariable, IMAGE_MAGIC, IN_STEP_SHIFT,
    Layout, flags,
};
use std::fmt::Write;

/// Threads that a block has at most.
const MAX_THREADS: u32 = 1024;
/// Address spaces of device memory and constant memory.
const GLOBAL_ADDRESS_SPACE: u32 = 1;
const CONSTANT_ADDRESS_SPACE: u32 = 4;

/// A row of the table of kernels.
pub(super) struct KernelEntry {
    name: String,
    features: Features,
    shared: KernelShared,
    max_threads: u32,
    argument_sizes: Vec<u64>,
    argument_offsets: Vec<u64>,
    entries: Entries,
}

/// A row of the table of variables.
pub(super) struct VariableEntry {
    name: String,
    symbol: String,
    bytes: u64,
    constant: bool,
    managed: bool,
}

impl KernelEntry {
    pub(super) fn new<'ctx>(
        module: &Module<'ctx>,
        name: String,
        body: Value<'ctx>,
        features: Features,
        shared: KernelShared,
        entries: Entries,
    ) -> Self {
        Self {
            name,
            features,
            shared,
            max_threads: features.max_threads.unwrap_or(MAX_THREADS),
            argument_sizes: argument_sizes(module, body),
            argument_offsets: argument_offsets(module, body),
            entries,
        }
    }
}

/// Turns device variables into variables of the host, under names that are unique in the program.
/// The instrumented variant refers to those of the plain one.
pub(super) fn host_variables(
    module: &Module,
    request: &CpuImageRequest,
    variant: Variant,
) -> Vec<VariableEntry> {
    let mut rows = Vec::new();
    for old in Value::globals(module) {
        let name = old.name();
        let space = old.ty().address_space();
        let constant = space == CONSTANT_ADDRESS_SPACE;
        let literal = space == 0 && old.is_constant_global();
        if old.is_declaration() && !old.has_uses() {
            old.delete_global();
            continue;
        }
        let known = matches!(space, 0 | GLOBAL_ADDRESS_SPACE | CONSTANT_ADDRESS_SPACE);
        if literal || !known || name.starts_with("llvm.") {
            continue;
        }
        let ty = old.value_type();
        let symbol = format!("{}.variable.{name}", request.symbol);
        let managed = request.managed.contains(&name);
        // The host may write a constant, so that it is none here.
        let initial = (!old.is_declaration() && variant == Variant::Plain).then(|| {
            let given = old.initializer().filter(|value| !value.is_undefined());
            let value = given.unwrap_or(ty.zero());
            match managed {
                true => filling_pages(module, value),
                false => value,
            }
        });
        if name == ARRIVALS {
            old.replace_uses_with(counters(module, &symbol, old, variant));
            old.delete_global();
            continue;
        }
        let new = Value::add_global(module, &symbol, initial.map_or(ty, Value::ty), 0);
        let alignment = old.alignment().max(ty.alignment(module));
        new.set_alignment(if managed {
            alignment.max(PAGE_BYTES)
        } else {
            alignment
        });
        new.set_hidden();
        new.set_initializer(initial);
        let replacement = if space == 0 {
            new
        } else {
            new.constant_address_space_cast(old.ty())
        };
        if !old.is_declaration() {
            rows.push(VariableEntry {
                bytes: ty.allocation_bytes(module),
                constant,
                managed,
                name,
                symbol,
            });
        }
        old.replace_uses_with(replacement);
        old.delete_global();
    }
    rows
}

/// Words that fused kernels count by, as a variable of no image: it is none of the program's. Checks take what lies beside a
/// variable of the program for a mistake of the program, so that other words lie around them.
fn counters<'ctx>(
    module: &Module<'ctx>,
    symbol: &str,
    old: Value<'ctx>,
    variant: Variant,
) -> Value<'ctx> {
    let beside = Type::integer(module, 8).array(BESIDE_BYTES).zero();
    let value = Value::structure(module, &[beside, old.value_type().zero(), beside]);
    let new = Value::add_global(module, symbol, value.ty(), 0);
    new.set_alignment(old.alignment());
    new.set_hidden();
    new.set_initializer((variant == Variant::Plain).then_some(value));
    new.constant_offset(module, BESIDE_BYTES)
        .constant_address_space_cast(old.ty())
}

/// Farther from a variable nothing is taken for it.
const BESIDE_BYTES: u64 = 2 * PAGE_BYTES as u64;

/// A managed variable has pages of its own: the runtime closes them to the host while a kernel may use the variable,
/// to find races between the two.
const PAGE_BYTES: u32 = 4096;

/// A value with as many zero bytes behind it as fill its last page.
fn filling_pages<'ctx>(module: &Module<'ctx>, value: Value<'ctx>) -> Value<'ctx> {
    let page_bytes = u64::from(PAGE_BYTES);
    let bytes = value.ty().allocation_bytes(module);
    let rest = Type::integer(module, 8).array(bytes.next_multiple_of(page_bytes) - bytes);
    Value::structure(module, &[value, rest.zero()])
}

/// The tables and the `CpuImage`, as a module to be linked with the code.
pub(super) fn tables<'ctx>(
    lowered: &Lowered<'ctx>,
    request: &CpuImageRequest,
) -> Result<Module<'ctx>, CodegenError> {
    let mut text = Text::default();
    let mut kernels = Vec::new();
    for kernel in &lowered.kernels {
        let name = text.string(&kernel.name);
        let display_name = text.string(&display_name(&kernel.name));
        let sizes = text.numbers(&kernel.argument_sizes);
        let offsets = text.numbers(&kernel.argument_offsets);
        let thread = text.function(&kernel.entries.thread);
        let instrumented =
            text.function(&format!("{}.{}.instrumented", request.symbol, kernel.name));
        let block_loop = match &kernel.entries.block_loop {
            Some(symbol) => text.function(symbol),
            None => "null".to_owned(),
        };
        let in_step = (0..3)
            .filter(|axis| !kernel.features.distinguishes_threads[*axis])
            .fold(0_u32, |bits, axis| bits | 1 << (IN_STEP_SHIFT + axis));
        let extents = kernel.features.cluster.unwrap_or_default();
        let cluster = (0..3).fold(0_u32, |bits, axis| {
            bits | (extents[axis] & 0xff) << (CLUSTER_SHIFT + 8 * axis)
        });
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = flag(kernel.features.block_barriers, flags::BARRIERS)
            | flag(kernel.features.warp_operations, flags::WARP_OPERATIONS)
            | flag(kernel.features.prints, flags::PRINTS_OR_TRAPS)
            | flag(kernel.shared.dynamic, flags::DYNAMIC_SHARED_MEMORY)
            | in_step
            | cluster;
        kernels.push(constant::<CpuKernel>(&[
            ("name", name),
            ("display_name", display_name),
            ("thread", thread),
            ("thread_instrumented", instrumented),
            ("block_loop", block_loop),
            ("static_shared_bytes", kernel.shared.bytes.to_string()),
            ("shared_align", kernel.shared.alignment.max(1).to_string()),
            ("max_threads", kernel.max_threads.to_string()),
            ("argument_count", kernel.argument_sizes.len().to_string()),
            ("flags", flags.to_string()),
            ("argument_sizes", sizes),
            ("stack_bytes", "0".to_owned()),
            ("argument_offsets", offsets),
        ])?);
    }
    let mut variables = Vec::new();
    for variable in &lowered.variables {
        let name = text.string(&variable.name);
        let _ = writeln!(
            text.body,
            "@{} = external hidden global i8",
            quoted(&variable.symbol)
        );
        variables.push(constant::<CpuVariable>(&[
            ("name", name),
            ("address", format!("@{}", quoted(&variable.symbol))),
            ("bytes", variable.bytes.to_string()),
            ("constant", u32::from(variable.constant).to_string()),
            ("managed", u32::from(variable.managed).to_string()),
        ])?);
    }
    let image = constant::<CpuImage>(&[
        ("magic", IMAGE_MAGIC.to_string()),
        ("version", ABI_VERSION.to_string()),
        ("kernel_count", kernels.len().to_string()),
        ("kernels", "@sirius.kernels".to_owned()),
        ("variable_count", variables.len().to_string()),
        ("variables", "@sirius.variables".to_owned()),
        ("architecture", request.architecture.to_string()),
        ("toolkit_version", request.toolkit_version.to_string()),
    ])?;
    let _ = writeln!(
        text.body,
        "@sirius.kernels = internal constant {}\n@sirius.variables = internal constant {}\n\
         @{} = hidden constant {image}",
        array::<CpuKernel>(&kernels),
        array::<CpuVariable>(&variables),
        quoted(&request.symbol),
    );
    text.body.push('\0');
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.body.as_bytes(), "image tables");
    let module = lowered
        .module
        .get_context()
        .create_module_from_ir(buffer)
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    module.set_triple(&lowered.module.get_triple());
    module.set_data_layout(&lowered.module.get_data_layout());
    Ok(module)
}

/// A structure of these values, in LLVM IR.
fn constant<T: Layout>(values: &[(&str, String)]) -> Result<String, CodegenError> {
    T::llvm_constant(values)
        .ok_or_else(|| CodegenError::Inconsistent(format!("a {} has other fields", T::NAME)))
}

/// An array of constants of this structure, in LLVM IR.
fn array<T: Layout>(constants: &[String]) -> String {
    let (count, ty) = (constants.len(), T::llvm_type());
    format!("[{count} x {ty}] [{}]", constants.join(", "))
}

/// Textual IR of constants.
#[derive(Default)]
struct Text {
    body: String,
    count: usize,
}

impl Text {
    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("@sirius.table.{}", self.count)
    }

    fn string(&mut self, value: &str) -> String {
        let name = self.fresh();
        let bytes: String = value.bytes().map(|byte| format!("\\{byte:02X}")).collect();
        let length = value.len() + 1;
        let _ = writeln!(
            self.body,
            "{name} = internal constant [{length} x i8] c\"{bytes}\\00\""
        );
        name
    }

    fn numbers(&mut self, values: &[u64]) -> String {
        let name = self.fresh();
        let list: Vec<String> = values.iter().map(|value| format!("i32 {value}")).collect();
        let (length, list) = (values.len(), list.join(", "));
        let _ = writeln!(
            self.body,
            "{name} = internal constant [{length} x i32] [{list}]"
        );
        name
    }

    fn function(&mut self, symbol: &str) -> String {
        let name = format!("@{}", quoted(symbol));
        let _ = writeln!(self.body, "declare void {name}(ptr, ptr)");
        name
    }
}

fn quoted(symbol: &str) -> String {
    let escaped: String = symbol
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | 0..=31 | 127..=255 => format!("\\{byte:02X}"),
            _ => char::from(byte).to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// A kernel's name as its author wrote it.
fn display_name(mangled: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    cpp_demangle::Symbol::new(mangled)
        .ok()
        .and_then(|symbol| symbol.demangle(&options).ok())
        .unwrap_or_else(|| mangled.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_textual_ir() {
        assert_eq!(quoted("a\"b\\c"), "\"a\\22b\\5Cc\"");
        assert_eq!(display_name("_Z5scalePffi"), "scale");
        assert_eq!(display_name("plain"), "plain");
    }
}
