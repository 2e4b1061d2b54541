//! What stands in the place of device intrinsics and built-in functions: `threads.ll`, `arithmetic.ll`,
//! `bits.ll`, `conversions.ll`, `half.ll`, `matrices.ll` and the table of functions for which the C
//! library has one of the same meaning.

pub(super) mod conversions;
pub(super) mod eight_bits;
pub(super) mod half_math;
pub(super) mod packed;
pub(super) mod rounding;

use super::conversions::add_conversions;
use super::eight_bits::add_eight_bits;
use super::half_math::add_half_math;
use super::instrument;
use super::matrices::add_products;
use super::packed::{add_packed_arithmetic, add_sums_of_products};
use super::rounding::add_directed_rounding;
use crate::cache::Entry;
use crate::codegen::CodegenError;
use crate::llvm::{Builder, Linkage, Type, Value, read_for_linking};
use inkwell::context::{Context, ContextRef};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use sirius_abi::{BlockContext, Counters, Layout, ThreadContext};
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::OnceLock;

/// Prefix of the definitions.
pub(super) const PREFIX: &str = "sirius.";

/// The definitions, as a module that is linked into what was lowered.
pub(super) struct Library<'ctx> {
    definitions: Module<'ctx>,
    /// Accesses report themselves.
    reports: bool,
}

/// What reports an access: context, address, bytes, kind.
const REPORT: &str = "sirius.__sirius_access";
/// How the definitions begin that load from or store to the program's memory, and to no other.
const ACCESSING: &[&str] = &[
    "asm.atomic.",
    "copy.bulk",
    "copy.partly",
    "llvm.nvvm.atomic.",
    "llvm.nvvm.cp.async.ca.",
    "llvm.nvvm.cp.async.cg.",
    "load_matrix",
    "store_matrix",
];

/// A definition.
pub(super) struct LibraryFunction<'ctx> {
    /// Its symbol.
    pub(super) name: String,
    /// Its type, the context first.
    pub(super) ty: Type<'ctx>,
}

impl<'ctx> Library<'ctx> {
    /// Parses the definitions in the context of a module, with accesses that report themselves or
    /// without.
    pub(super) fn parse(module: &Module<'ctx>, reports: bool) -> Result<Self, CodegenError> {
        let mut products = String::new();
        add_products(&mut products, module);
        let context = module.get_context();
        let definitions = match products.is_empty() {
            true => read_bitcode(context, definitions_as_bitcode()?, reports),
            false => read_text(context, definitions_as_text() + &products),
        }?;
        for function in Value::functions(&definitions) {
            if !function.is_declaration() {
                function.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            }
        }
        let library = Self {
            definitions,
            reports,
        };
        if reports {
            library.report_accesses();
        }
        Ok(library)
    }

    /// Makes the definitions that access the program's memory tell so.
    fn report_accesses(&self) {
        let Some(access) = Value::function(&self.definitions, REPORT) else {
            return;
        };
        for function in Value::functions(&self.definitions) {
            let name = function.name();
            let accesses = name
                .strip_prefix(PREFIX)
                .is_some_and(|name| ACCESSING.iter().any(|start| name.starts_with(start)));
            if accesses && !function.is_declaration() {
                instrument::report_accesses_of_definition(&self.definitions, function, access);
            }
        }
    }

    /// Makes an access that is about to be emitted report itself, where they do.
    pub(super) fn report_access(
        &self,
        module: &Module<'ctx>,
        builder: &Builder<'ctx>,
        context: Value<'ctx>,
        (address, bytes, kind): (Value<'ctx>, u64, u64),
    ) -> Result<(), CodegenError> {
        if self.reports {
            let report = self.declare(module, REPORT)?;
            let bytes = Type::integer(module, 64).constant(bytes);
            let kind = Type::integer(module, 32).constant(kind);
            let arguments = [context, address, bytes, kind];
            builder.call(report.value_type(), report, &arguments);
        }
        Ok(())
    }

    /// Whether accesses report themselves.
    pub(super) fn reports_accesses(&self) -> bool {
        self.reports
    }

    /// Whether something is defined for a device function, whatever its type.
    pub(super) fn has(&self, name: &str) -> bool {
        Value::function(&self.definitions, &format!("{PREFIX}{name}"))
            .is_some_and(|function| !function.is_declaration())
    }

    /// The definition for a device function called with a type. Intrinsics that are overloaded on
    /// the address space of a pointer have it as a suffix, which the definitions leave out.
    pub(super) fn find(&self, name: &str, called: Type) -> Option<LibraryFunction<'ctx>> {
        let mut stem = name;
        loop {
            let symbol = format!("{PREFIX}{stem}");
            if let Some(function) = Value::function(&self.definitions, &symbol)
                && !function.is_declaration()
                && fits(function.value_type(), called)
            {
                return Some(LibraryFunction {
                    name: symbol,
                    ty: function.value_type(),
                });
            }
            let (shorter, suffix) = stem.rsplit_once('.')?;
            let overloaded = suffix
                .strip_prefix('p')
                .is_some_and(|digits| digits.parse::<u32>().is_ok());
            if !overloaded {
                return None;
            }
            stem = shorter;
        }
    }

    /// Declares a definition, by its full symbol, in a module.
    pub(super) fn declare(
        &self,
        module: &Module<'ctx>,
        symbol: &str,
    ) -> Result<Value<'ctx>, CodegenError> {
        if let Some(function) = Value::function(module, symbol) {
            return Ok(function);
        }
        let function = Value::function(&self.definitions, symbol).ok_or_else(|| {
            CodegenError::Inconsistent(format!("the CPU library does not define {symbol}"))
        })?;
        Ok(Value::add_function(module, symbol, function.value_type()))
    }

    /// Makes a call report, when it is executed, that a feature is not supported.
    pub(super) fn unsupported(
        &self,
        module: &Module<'ctx>,
        call: Value<'ctx>,
        what: &str,
    ) -> Result<(), CodegenError> {
        let report = self.declare(module, "__sirius_unsupported")?;
        let context = call.function_of_instruction().parameters()[0];
        let builder = Builder::before(call);
        let text = builder.text(what);
        builder.call(report.value_type(), report, &[context, text]);
        if !call.ty().is_void() {
            call.replace_uses_with(call.ty().zero());
        }
        call.erase();
        Ok(())
    }

    /// Links the definitions that the module uses into it.
    pub(super) fn link_into(self, module: &Module<'ctx>) -> Result<(), CodegenError> {
        self.definitions.set_triple(&module.get_triple());
        self.definitions.set_data_layout(&module.get_data_layout());
        module
            .link_in_module(self.definitions)
            .map_err(|message| CodegenError::Llvm(message.to_string()))?;
        for function in Value::functions(module) {
            if !function.is_declaration() && function.name().starts_with(PREFIX) {
                function.set_linkage(Linkage::LLVMInternalLinkage);
            }
        }
        Ok(())
    }
}

/// Whoever needs a function of the C library or of LLVM's declares it; the first declaration stays.
fn definitions_as_text() -> String {
    let mut text = String::new();
    for function in sirius_abi::FUNCTIONS {
        text.push_str(&function.declaration());
        text.push('\n');
    }
    text.push_str(&with_layouts(include_str!("functions/threads.ll")));
    text.push_str(include_str!("functions/arithmetic.ll"));
    text.push_str(include_str!("functions/bits.ll"));
    text.push_str(include_str!("functions/conversions.ll"));
    text.push_str(include_str!("functions/half.ll"));
    text.push_str(include_str!("functions/matrices.ll"));
    add_c_library_wrappers(&mut text);
    add_directed_rounding(&mut text);
    add_packed_arithmetic(&mut text);
    add_sums_of_products(&mut text);
    add_half_math(&mut text);
    add_conversions(&mut text);
    add_eight_bits(&mut text);
    let mut declared = HashSet::new();
    let mut definitions = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let name = line.strip_prefix("declare ").and_then(declared_name);
        if name.is_none_or(|name| declared.insert(name)) {
            definitions.push_str(line);
        }
    }
    definitions
}

/// Puts numbers of bytes in the place of structures (`$NAME`) and their fields (`$NAME.FIELD`, `$NAME.FIELD+BYTES`). What is
/// none stays, so that LLVM refuses the text.
fn with_layouts(text: &str) -> String {
    fn bytes<T: Layout>(field: &str) -> Option<usize> {
        let (field, behind) = field.split_once('+').unwrap_or((field, "0"));
        match field {
            "" => Some(size_of::<T>()),
            _ => {
                let mut fields = T::FIELDS.iter();
                let found = fields.find(|known| known.name == field)?;
                Some(found.offset_bytes + behind.parse::<usize>().ok()?)
            }
        }
    }
    let is_of_name = |character: char| character.is_alphanumeric() || "_.+".contains(character);
    let mut parts = text.split('$');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|character| !is_of_name(character));
        let (place, rest) = part.split_at(end.unwrap_or(part.len()));
        let (structure, field) = place.split_once('.').unwrap_or((place, ""));
        let number = match structure {
            BlockContext::NAME => bytes::<BlockContext>(field),
            Counters::NAME => bytes::<Counters>(field),
            ThreadContext::NAME => bytes::<ThreadContext>(field),
            _ => None,
        };
        match number {
            Some(number) => result.push_str(&number.to_string()),
            None => result.extend(["$", place]),
        }
        result.push_str(rest);
    }
    result
}

/// Of a declaration behind its first word.
fn declared_name(rest: &str) -> Option<&str> {
    let (_, name) = rest.split_once('@')?;
    name.split('(').next()
}

/// The definitions as LLVM reads them quickest; the text is read by one of many runs of the compiler.
fn definitions_as_bitcode() -> Result<&'static [u8], CodegenError> {
    static BITCODE: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(bitcode) = BITCODE.get() {
        return Ok(bitcode);
    }
    let text = definitions_as_text();
    let entry = Entry::of("library", format!("{LLVM}\n{text}").into_bytes());
    let kept = entry.as_ref().and_then(Entry::take);
    let bitcode = match kept.and_then(|parts| <[Vec<u8>; 1]>::try_from(parts).ok()) {
        Some([bitcode]) => bitcode,
        None => {
            let context = Context::create();
            let module = read_text(context.create_module("").get_context(), text)?;
            let bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
            if let Some(entry) = &entry {
                entry.keep(&[&bitcode]);
            }
            bitcode
        }
    };
    Ok(BITCODE.get_or_init(|| bitcode))
}

/// Who writes bitcode and who reads it.
const LLVM: &str = "LLVM 22";

fn read_text(context: ContextRef<'_>, mut text: String) -> Result<Module<'_>, CodegenError> {
    text.push('\0');
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "sirius library");
    let module = context.create_module_from_ir(buffer);
    module.map_err(|message| CodegenError::Llvm(message.to_string()))
}

/// With bodies where these are looked into.
fn read_bitcode<'ctx>(
    context: ContextRef<'ctx>,
    bitcode: &[u8],
    with_bodies: bool,
) -> Result<Module<'ctx>, CodegenError> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "sirius library");
    let module = match with_bodies {
        true => Module::parse_bitcode_from_buffer(&buffer, context)
            .map_err(|message| message.to_string()),
        false => read_for_linking(buffer, context),
    };
    module.map_err(CodegenError::Llvm)
}

/// Whether a call of type `called` can become a call of `defined`, which has the context in front.
/// Pointers of all address spaces are alike.
fn fits(defined: Type, called: Type) -> bool {
    let alike = |left: Type, right: Type| left == right || left.is_pointer() && right.is_pointer();
    let parameters = defined.parameters();
    let arguments = called.parameters();
    !called.is_variadic()
        && alike(defined.result(), called.result())
        && parameters.len() == arguments.len() + 1
        && parameters[1..]
            .iter()
            .zip(&arguments)
            .all(|(left, right)| alike(*left, *right))
}

/// Functions of one argument that the C library has for float and double under CUDA's name.
const UNARY: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc",
    "tgamma", "lgamma", "j0", "j1", "y0", "y1", "logb",
];

/// Functions of two arguments, likewise.
const BINARY: &[&str] = &[
    "pow",
    "atan2",
    "fmod",
    "remainder",
    "hypot",
    "fdim",
    "nextafter",
];

/// Functions that are LLVM operations: CUDA's name, LLVM's name, number of arguments.
const OPERATIONS: &[(&str, &str, usize)] = &[
    ("sqrt", "sqrt", 1),
    ("fabs", "fabs", 1),
    ("floor", "floor", 1),
    ("ceil", "ceil", 1),
    ("trunc", "trunc", 1),
    ("rint", "rint", 1),
    ("nearbyint", "nearbyint", 1),
    ("round", "round", 1),
    ("fma", "fma", 3),
    ("fmin", "minnum", 2),
    ("fmax", "maxnum", 2),
    ("copysign", "copysign", 2),
];

fn add_c_library_wrappers(text: &mut String) {
    let precisions = [("f", "float", "f32"), ("", "double", "f64")];
    for (suffix, ty, short) in precisions {
        let plain = UNARY
            .iter()
            .map(|name| (name, 1))
            .chain(BINARY.iter().map(|name| (name, 2)));
        for (name, arguments) in plain {
            let attributes = "nounwind willreturn memory(none)";
            let parameters = vec![ty; arguments].join(", ");
            let _ = writeln!(
                text,
                "declare {ty} @{name}{suffix}({parameters}) {attributes}"
            );
            wrapper(
                text,
                ty,
                &format!("{name}{suffix}"),
                &format!("{name}{suffix}"),
                arguments,
            );
        }
        for (name, operation, arguments) in OPERATIONS {
            let parameters = vec![ty; *arguments].join(", ");
            let callee = format!("llvm.{operation}.{short}");
            let _ = writeln!(text, "declare {ty} @{callee}({parameters})");
            wrapper(text, ty, &format!("{name}{suffix}"), &callee, *arguments);
        }
    }
}

fn wrapper(text: &mut String, ty: &str, name: &str, callee: &str, arguments: usize) {
    let list: Vec<String> = (0..arguments).map(|n| format!("{ty} %a{n}")).collect();
    let list = list.join(", ");
    let _ = writeln!(
        text,
        "define internal {ty} @{PREFIX}__nv_{name}(ptr %c, {list}) alwaysinline {{\n  \
         %r = call {ty} @{callee}({list})\n  ret {ty} %r\n}}"
    );
}
