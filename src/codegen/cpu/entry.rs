//! The functions that the runtime calls: `thread`, `thread_instrumented`, `block_loop`.

use super::classify::Features;
use super::{Variant, always_inline};
use crate::codegen::CodegenError;
use crate::llvm::{Block, Builder, DebugScope, Linkage, Type, Value};
use inkwell::module::Module;

/// Symbols of a kernel's entries in one variant.
pub(super) struct Entries {
    /// `thread` or `thread_instrumented`.
    pub(super) thread: String,
    /// `block_loop`, for kernels that need no fibers.
    pub(super) block_loop: Option<String>,
}

/// A kernel argument as it travels.
struct Argument<'ctx> {
    ty: Type<'ctx>,
    in_memory: bool,
    bytes: u64,
    alignment: u32,
    offset_bytes: u64,
}

/// Makes the entries that call a lowered kernel body.
pub(super) fn make_entries<'ctx>(
    module: &Module<'ctx>,
    symbol: &str,
    name: &str,
    body: Value<'ctx>,
    features: Features,
    variant: Variant,
) -> Result<Entries, CodegenError> {
    let arguments = arguments_of(module, body);
    let suffix = match variant {
        Variant::Plain => "thread",
        Variant::Instrumented => "instrumented",
    };
    let thread = format!("{symbol}.{name}.{suffix}");
    make_thread(module, &thread, body, &arguments);
    let loops = variant == Variant::Plain && !features.block_barriers && !features.warp_operations;
    let block_loop = loops.then(|| format!("{symbol}.{name}.block_loop"));
    if let Some(block_loop) = &block_loop {
        make_block_loop(module, block_loop, body, &arguments, features)?;
    }
    Ok(Entries { thread, block_loop })
}

/// Sizes of a lowered kernel's arguments, as `cudaLaunchKernel` copies them.
pub(super) fn argument_sizes<'ctx>(module: &Module<'ctx>, body: Value<'ctx>) -> Vec<u64> {
    arguments_of(module, body)
        .iter()
        .map(|argument| argument.bytes)
        .collect()
}

/// Where a lowered kernel's arguments lie in a parameter buffer.
pub(super) fn argument_offsets<'ctx>(module: &Module<'ctx>, body: Value<'ctx>) -> Vec<u64> {
    arguments_of(module, body)
        .iter()
        .map(|argument| argument.offset_bytes)
        .collect()
}

fn arguments_of<'ctx>(module: &Module<'ctx>, body: Value<'ctx>) -> Vec<Argument<'ctx>> {
    let mut offset_bytes: u64 = 0;
    let mut arguments = Vec::new();
    for (n, ty) in body
        .value_type()
        .parameters()
        .into_iter()
        .enumerate()
        .skip(1)
    {
        let position = n as u32 + 1;
        let in_memory = body.type_attribute(position, "byval");
        let bytes = match in_memory {
            Some(pointee) => pointee.allocation_bytes(module),
            None => ty.access_bytes(module),
        };
        let natural = in_memory.unwrap_or(ty).alignment(module);
        let alignment = match in_memory {
            Some(_) => body
                .integer_attribute(position, "align")
                .map_or(natural, |n| n as u32),
            None => natural,
        };
        offset_bytes = offset_bytes.next_multiple_of(u64::from(alignment.max(1)));
        arguments.push(Argument {
            ty,
            in_memory: in_memory.is_some(),
            bytes,
            alignment: alignment.max(1),
            offset_bytes,
        });
        offset_bytes += bytes;
    }
    arguments
}

fn entry_function<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    body: Value<'ctx>,
) -> (Value<'ctx>, Builder<'ctx>) {
    let pointer = Type::pointer(module, 0);
    let ty = Type::function(Type::void(module), &[pointer, pointer]);
    let function = Value::add_function(module, name, ty);
    function.add_attribute(1, "noalias", 0);
    let builder = Builder::at_end(Block::append(function, "entry"));
    if let Some(scope) = DebugScope::with_frame(module, body) {
        scope.cover(function, name, &builder);
    }
    (function, builder)
}

/// `thread(context, arguments)`: loads the arguments and calls the body. Those that the body takes in
/// memory are copied, because it relies on their alignment and the caller of the runtime need not.
fn make_thread<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    body: Value<'ctx>,
    arguments: &[Argument<'ctx>],
) {
    let (function, builder) = entry_function(module, name, body);
    let [context, pointers] = [0, 1].map(|n| function.parameters()[n]);
    let byte = Type::integer(module, 8);
    let word = Type::integer(module, 64);
    let mut values = vec![context];
    for (n, argument) in arguments.iter().enumerate() {
        let address = argument_address(module, &builder, pointers, n);
        values.push(if argument.in_memory {
            let copy = builder.alloca(byte.array(argument.bytes.max(1)));
            copy.set_alignment(argument.alignment);
            let bytes = word.constant(argument.bytes);
            builder.copy(copy, address, argument.alignment, bytes);
            copy
        } else {
            builder.load_aligned(argument.ty, address, 1)
        });
    }
    call_body(&builder, body, &values);
    builder.ret(None);
}

/// `block_loop(block, arguments)`: copies the arguments to its own frame once, so that stores of
/// the kernel cannot be taken for changes of them, and runs the body for each thread.
fn make_block_loop<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    body: Value<'ctx>,
    arguments: &[Argument<'ctx>],
    features: Features,
) -> Result<(), CodegenError> {
    let byte = Type::integer(module, 8);
    let word = Type::integer(module, 64);
    let (closure, inner) = entry_function(module, &format!("{name}.body"), body);
    closure.set_linkage(Linkage::LLVMInternalLinkage);
    closure.remove_attribute(1, "noalias");
    always_inline(closure);
    let [context, frame] = [0, 1].map(|n| closure.parameters()[n]);
    let mut values = vec![context];
    for argument in arguments {
        let offset = word.constant(argument.offset_bytes);
        let address = inner.element_pointer(byte, frame, &[offset]);
        values.push(if argument.in_memory {
            address
        } else {
            inner.load_aligned(argument.ty, address, argument.alignment)
        });
    }
    call_body(&inner, body, &values);
    inner.ret(None);

    let (function, builder) = entry_function(module, name, body);
    let [block, pointers] = [0, 1].map(|n| function.parameters()[n]);
    let bytes = arguments
        .last()
        .map_or(0, |last| last.offset_bytes + last.bytes);
    let frame = builder.alloca(byte.array(bytes.max(1)));
    frame.set_alignment(arguments.iter().map(|a| a.alignment).max().unwrap_or(1));
    for (n, argument) in arguments.iter().enumerate() {
        let source = argument_address(module, &builder, pointers, n);
        let offset = word.constant(argument.offset_bytes);
        let target = builder.element_pointer(byte, frame, &[offset]);
        if argument.in_memory {
            let bytes = word.constant(argument.bytes);
            builder.copy(target, source, argument.alignment, bytes);
        } else {
            let value = builder.load_aligned(argument.ty, source, 1);
            builder.store_aligned(value, target, argument.alignment);
        }
    }
    let run = Value::function(module, "sirius.run_block").ok_or_else(|| {
        CodegenError::Inconsistent("the CPU library lacks the loop over threads".to_owned())
    })?;
    let mut values = vec![block, closure, frame];
    let flag = Type::integer(module, 1);
    values.extend(
        features
            .distinguishes_threads
            .map(|distinguishes| flag.constant(u64::from(!distinguishes))),
    );
    builder.call(run.value_type(), run, &values);
    builder.ret(None);
    Ok(())
}

/// `arguments[n]`.
fn argument_address<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    pointers: Value<'ctx>,
    n: usize,
) -> Value<'ctx> {
    let pointer = Type::pointer(module, 0);
    let index = Type::integer(module, 64).constant(n as u64);
    let slot = builder.element_pointer(pointer, pointers, &[index]);
    builder.load_aligned(pointer, slot, 8)
}

fn call_body(builder: &Builder, body: Value, values: &[Value]) {
    let call = builder.call(body.value_type(), body, values);
    for position in 2..=values.len() as u32 {
        body.copy_function_attributes_to_call(position, call, position);
    }
}
