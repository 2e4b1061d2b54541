//! What calls of the C and C++ libraries write and amount to.
//!
//! Invariant: a call is taken for harmless only where the program has given the library nothing that the call would
//! work on besides its arguments: memory for a stream, a state for random numbers, a function to call.

use super::{Conduct, HostMemory, Writes};
use crate::diagnostics::source_name;
use crate::launch::calls::{self, LibraryCall};
use crate::launch::host_ir::{HostModule, Instruction, Opcode, Operand};
use crate::launch::points_to::{PointsTo, is_memory_copy};
use crate::program::gives_stream_memory;

/// What a program gives to libraries, of which their later calls say nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// Streams call functions of the program.
    stream_functions: bool,
    /// Streams work on memory of the program; what is not in the module may have given it to them.
    stream_memory: bool,
    /// The library has other memory of the program, or what is not in the module may have given it some.
    memory: bool,
    /// Some of such memory may be what kernels see.
    is_visible_given: bool,
    /// Functions that are called where memory is short, or at an end that no handler is there for.
    handlers: bool,
    /// Code outside of the module, and so a library that it was given to, may have memory that kernels see.
    pub(super) is_visible: bool,
}

impl Given {
    pub(super) fn of(host: &HostModule, points_to: &PointsTo) -> Self {
        let any = |is_one: &dyn Fn(&str) -> bool| {
            host.functions.iter().any(|function| is_one(&function.name))
        };
        let names = |list: &'static [&str]| any(&|name| list.contains(&name));
        let is_open = !host.closed;
        let gives = names(&STREAM_MEMORY) || names(&OTHER_MEMORY) || any(&gives_stream_memory);
        Self {
            stream_functions: names(&["fopencookie"])
                || any(&|name| name.starts_with("register_printf_"))
                || any(&overrides_stream),
            stream_memory: is_open || names(&STREAM_MEMORY) || any(&gives_stream_memory),
            memory: is_open || names(&OTHER_MEMORY),
            handlers: names(&HANDLERS),
            is_visible_given: points_to.is_visible_outside(!gives),
            is_visible: points_to.is_visible_outside(false),
        }
    }
}

/// Functions of C that give a stream memory of the program.
const STREAM_MEMORY: [&str; 7] = [
    "fmemopen",
    "open_memstream",
    "open_wmemstream",
    "setvbuf",
    "setbuf",
    "setbuffer",
    "freopen",
];

/// Those that give the library a state, or texts, to keep.
const OTHER_MEMORY: [&str; 3] = ["initstate", "setstate", "putenv"];

/// Those that take a function for the end.
const HANDLERS: [&str; 7] = [
    "_ZSt15set_new_handlerPFvvE",
    "_ZSt13set_terminatePFvvE",
    "signal",
    "sigaction",
    "bsd_signal",
    "sysv_signal",
    "__sysv_signal",
];

/// Whether a function of the program is what a C++ stream's buffer or locale calls: a class overrides it.
fn overrides_stream(name: &str) -> bool {
    const BUFFER: [&str; 10] = [
        "8overflowEi",
        "8overflowEj",
        "6xsputnEPKcl",
        "6xsputnEPKwl",
        "4syncEv",
        "9underflowEv",
        "5uflowEv",
        "6xsgetnEPcl",
        "9showmanycEv",
        "9pbackfailEi",
    ];
    const LOCALE: [&str; 9] = [
        "6do_putE",
        "6do_getE",
        "6do_outE",
        "5do_inE",
        "do_groupingEv",
        "do_decimal_pointEv",
        "do_thousands_sepEv",
        "do_truenameEv",
        "do_falsenameEv",
    ];
    let of_library = ["_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"];
    let of_class =
        name.starts_with("_ZN") && !of_library.iter().any(|start| name.starts_with(start));
    of_class
        && (BUFFER.iter().any(|end| name.ends_with(end))
            || LOCALE.iter().any(|part| name.contains(part)))
}

impl HostMemory {
    /// What a call of a function that the table has writes.
    pub(super) fn library_writes(
        &self,
        host: &HostModule,
        points_to: &PointsTo,
        (function, at): (usize, usize),
        library: &LibraryCall,
    ) -> Writes {
        let instruction = &host.functions[function].instructions[at];
        let name = callee(host, instruction);
        let targets = |position: usize| {
            let operand = instruction.operands.get(position).copied();
            points_to.of(host, function, operand.unwrap_or(Operand::Undefined))
        };
        let mut writes = Writes::default();
        let is_fill = is_memory_copy(name) || name == "memset" || name.starts_with("llvm.memset.");
        let length = match instruction.operands.get(2) {
            Some(Operand::Integer { value, .. }) if is_fill => u64::try_from(*value).ok(),
            _ => None,
        };
        let all = library.writes.iter().copied();
        let mut from = library.writes_from.unwrap_or(usize::MAX);
        if let Some(format) = library
            .format
            .filter(|_| tells_places(host, instruction, library))
        {
            from = from.min(format + 1);
            writes.escaped |= library.format_list;
        }
        for position in all.chain(from..instruction.operands.len()) {
            let place = targets(position);
            if !place.is_empty() || length.is_some() {
                writes.add(&place, length);
            }
        }
        if library.copies.is_some() {
            writes.add(
                &points_to.of(host, function, Operand::Instruction(at)),
                None,
            );
        }
        for position in library.string.iter().chain(&library.other_string) {
            let place = targets(*position);
            writes.add(&place, Some(calls::STRING_BYTES));
            writes.add(&points_to.read(&place, 8), None);
        }
        if !library.relinks.is_empty() {
            let roots = (0..instruction.operands.len()).flat_map(&targets).collect();
            let nodes = points_to.linked(roots, library.relinks);
            // Besides its links a node has a colour, or a list its length, in front.
            writes.add(&nodes, Some(calls::STRING_BYTES));
        }
        // Intrinsic functions are instructions.
        if !name.starts_with("llvm.") && !library.error_number {
            writes.add(&points_to.error_number(), None);
        }
        if library.calls_back || library.stream && self.given.stream_functions {
            writes.join(&self.unknown_call);
        }
        writes.escaped |= self.works_on_given(library);
        writes
    }

    /// What a call of a function that the table has amounts to.
    pub(super) fn library_conduct(
        &self,
        host: &HostModule,
        (function, at): (usize, usize),
        library: &LibraryCall,
    ) -> Conduct {
        let instruction = &host.functions[function].instructions[at];
        let acts = library.fence
            || library.calls_back
            || library.throws && self.given.handlers
            || self.given.is_visible_given && self.works_on_given(library)
            || self.given.is_visible
                && library.format_list
                && tells_places(host, instruction, library);
        let is_text = || !self.given.stream_functions && !is_bulk_output(host, instruction);
        match (library.output, library.throws) {
            _ if acts => Conduct::Acts,
            (true, _) if !is_text() => Conduct::Acts,
            (true, true) => Conduct::OutputsOrThrows,
            (true, false) => Conduct::Outputs,
            (false, true) => Conduct::Throws,
            (false, false) => Conduct::Computes,
        }
    }

    /// How a call is told: where the name is a library's, but what runs may be the program's own.
    pub fn told_name(
        &self,
        host: &HostModule,
        (function, at): (usize, usize),
        name: String,
    ) -> String {
        let Opcode::Call {
            callee: Some(callee),
            ..
        } = host.functions[function].instructions[at].opcode
        else {
            return name;
        };
        let called = &host.functions[callee];
        let is_own = !called.blocks.is_empty() && calls::is_library_name(&called.name);
        let calls_own = calls::library_call(called).is_some_and(|library| {
            library.calls_back || library.stream && self.given.stream_functions
        });
        match is_own || calls_own {
            true => format!("program's {}", source_name(&name)),
            false => name,
        }
    }

    /// It works on memory that the program gave to the library before.
    fn works_on_given(&self, library: &LibraryCall) -> bool {
        library.stream && self.given.stream_memory || library.hidden && self.given.memory
    }

    /// The text of a string among the arguments, or what the nodes of a list or tree lead to, is memory that a
    /// kernel may see.
    pub(super) fn reads_visible_text(
        &self,
        host: &HostModule,
        points_to: &PointsTo,
        (function, at): (usize, usize),
        library: &LibraryCall,
    ) -> bool {
        let instruction = &host.functions[function].instructions[at];
        let name = callee(host, instruction);
        let of_strings = name.contains("12basic_stringI");
        // A stream is no string, but its first eight bytes are a pointer, too.
        let first = usize::from(library.stream);
        let operands = instruction.operands.iter().skip(first);
        let all = || {
            operands
                .clone()
                .map(|operand| points_to.of(host, function, *operand))
        };
        let linked = |links: &'static [i64]| points_to.linked(all().flatten().collect(), links);
        of_strings && all().any(|place| points_to.any_kernel_visible(&points_to.read(&place, 8)))
            || points_to.any_kernel_visible(&linked(library.relinks))
            || points_to.any_kernel_visible(&linked(library.walks))
    }
}

fn callee<'a>(host: &'a HostModule, instruction: &Instruction) -> &'a str {
    match instruction.opcode {
        Opcode::Call {
            callee: Some(callee),
            ..
        } => &host.functions[callee].name,
        _ => "",
    }
}

/// Whether the text of a call may have `%n`, which writes how much there is so far to a place that is passed.
fn tells_places(host: &HostModule, instruction: &Instruction, library: &LibraryCall) -> bool {
    let Some(format) = library.format else {
        return false;
    };
    let text = match instruction.operands.get(format) {
        Some(Operand::Global(global, offset)) => {
            let text = host.globals[*global].text.as_deref();
            usize::try_from(*offset)
                .ok()
                .and_then(|offset| text?.get(offset..))
        }
        _ => None,
    };
    text.is_none_or(has_conversion_to_place)
}

fn has_conversion_to_place(text: &[u8]) -> bool {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut rest = text.iter();
    while rest.any(|byte| *byte == b'%') {
        let ends = |byte: &&u8| {
            byte.is_ascii_alphabetic() && !b"hlLqjztwI".contains(*byte) || **byte == b'%'
        };
        if rest.find(ends) == Some(&b'n') {
            return true;
        }
    }
    false
}

/// Whether a call may write so much that it takes its time, which work of the device could run beside.
fn is_bulk_output(host: &HostModule, instruction: &Instruction) -> bool {
    /// What a line of text or a table may have.
    const MOST_BYTES: i64 = 4096;
    let constant = |argument: usize| match instruction.operands.get(argument) {
        Some(Operand::Integer { value, .. }) => Some(*value),
        _ => None,
    };
    let bytes = || constant(1)?.checked_mul(constant(2)?);
    callee(host, instruction) == "fwrite"
        && bytes().is_none_or(|bytes| !(0..=MOST_BYTES).contains(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_that_write_are_told_from_others() {
        for text in ["%n", "a%5d%hhn", "%*d%% %lln\n", "%1$ls %2$n"] {
            assert!(has_conversion_to_place(text.as_bytes()), "{text}");
        }
        for text in ["", "n", "%d n", "%%n", "%ld\n", "%-08.3lfn", "%d\0%n", "%"] {
            assert!(!has_conversion_to_place(text.as_bytes()), "{text}");
        }
    }
}
