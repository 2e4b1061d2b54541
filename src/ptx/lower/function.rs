//! Functions and kernels: registers are variables that LLVM's passes make values of, labels are blocks.

use super::values::{Type, Value, quoted};
use super::{FIRST_OF_KERNELS, Made, Passed, Signature, linkage, variables};
use crate::ptx::PtxError;
use crate::ptx::flat::{Flat, Step, flatten};
use crate::ptx::roots::roots;
use crate::ptx::syntax::{Function, Linkage, Operand, Scalar, Space, Variable};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// Defines or declares a function.
pub(super) fn define(made: &mut Made, function: &Function) -> Result<(), PtxError> {
    if function.body.is_none() {
        let has_body = made.defined.contains(&function.name);
        if !has_body && !function.is_kernel {
            let signature = Signature::of(function);
            let attributes = if signature.never_returns { 2 } else { 0 };
            let parameters: Vec<String> =
                signature.parameters.iter().map(Passed::parameter).collect();
            let weak = if function.linkage == Linkage::Weak {
                "extern_weak "
            } else {
                ""
            };
            made.declare(format!(
                "declare {weak}{} @{}({}) #{attributes}",
                signature.result(),
                quoted(&function.name),
                parameters.join(", ")
            ));
        }
        return Ok(());
    }
    let flat = flatten(function)?;
    let mut body = Body::new(made, function, &flat)?;
    body.steps()?;
    let text = body.finish();
    made.text.push_str(&text);
    Ok(())
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Named {
    /// A register.
    Register(Scalar),
    /// A variable: what its address is written as, and where it lies.
    Variable(String, Space),
    /// A function or a kernel.
    Function,
}

/// A function that is being written.
pub(super) struct Body<'a> {
    pub(super) made: &'a mut Made,
    pub(super) function: &'a Function,
    pub(super) flat: &'a Flat,
    names: HashMap<String, Named>,
    /// What addresses are derived from.
    pub(super) roots: HashMap<String, (String, bool)>,
    /// Kernel parameters that are passed as pointers.
    pointers: HashSet<String>,
    text: String,
    next: usize,
    /// Whether the last instruction ends its block.
    is_ended: bool,
    scope: usize,
    place: Option<usize>,
    /// `.loc` was seen.
    has_places: bool,
    pub(super) line: u32,
    pub(super) uses_carry: bool,
    labels: BTreeSet<String>,
}

impl<'a> Body<'a> {
    fn new(made: &'a mut Made, function: &'a Function, flat: &'a Flat) -> Result<Self, PtxError> {
        let mut names = HashMap::new();
        for (name, (symbol, space)) in &made.variables {
            let symbol = format!("@{}", quoted(symbol));
            names.insert(name.clone(), Named::Variable(symbol, *space));
        }
        for name in made.functions.keys() {
            names.insert(name.clone(), Named::Function);
        }
        let parameters = function.parameters.iter().chain(&function.results);
        for variable in parameters.filter(|variable| variable.space.is_some()) {
            let address = format!("%{}", quoted(&format!("p.{}", variable.name)));
            names.insert(
                variable.name.clone(),
                Named::Variable(address, Space::Parameter),
            );
        }
        let mut shared = Vec::new();
        for variable in &flat.variables {
            let space = variable.space.unwrap_or(Space::Local);
            let address = match space {
                Space::Shared | Space::Global | Space::Constant => {
                    let symbol = made.own_symbol(&variable.name);
                    shared.push((variable, symbol.clone()));
                    format!("@{}", quoted(&symbol))
                }
                _ => format!("%{}", quoted(&format!("v.{}", variable.name))),
            };
            names.insert(variable.name.clone(), Named::Variable(address, space));
        }
        for (variable, symbol) in shared {
            variables::define_as(made, variable, &symbol)?;
        }
        for (name, scalar) in &flat.registers {
            names.insert(name.clone(), Named::Register(*scalar));
        }
        let signature = signature_of(made, function);
        let parameters = function.parameters.iter().enumerate();
        let pointers: HashSet<String> = parameters
            .filter(|(index, parameter)| match function.is_kernel {
                true => is_pointer_sized(parameter),
                false => signature.parameters[*index] == Passed::Pointer,
            })
            .map(|(_, parameter)| parameter.name.clone())
            .collect();
        let is_variable = |name: &str| matches!(names.get(name), Some(Named::Variable(_, space)) if *space != Space::Parameter);
        let mut roots = roots(flat, &is_variable, &pointers);
        // Those that some address is derived from.
        let used = addressed(flat, &roots);
        let pointers: HashSet<String> = pointers
            .into_iter()
            .filter(|name| used.contains(name.as_str()))
            .collect();
        roots.retain(|_, (root, _)| is_variable(root) || pointers.contains(root));
        let first = flat.steps.iter().find_map(|step| match step {
            Step::Place(file, line, _) => Some((*file, *line)),
            _ => None,
        });
        let scope = made
            .places
            .function(&function.name, first.unwrap_or((0, function.line)));
        let labels = flat.steps.iter().filter_map(|step| match step {
            Step::Label(label) => Some(label.clone()),
            _ => None,
        });
        Ok(Self {
            function,
            flat,
            names,
            roots,
            pointers,
            text: String::new(),
            next: 0,
            is_ended: false,
            scope,
            place: None,
            has_places: first.is_some(),
            line: function.line,
            uses_carry: false,
            labels: labels.collect(),
            made,
        })
    }

    fn steps(&mut self) -> Result<(), PtxError> {
        let flat = self.flat;
        self.set_place((0, self.function.line, 0));
        for step in &flat.steps {
            match step {
                Step::Label(label) => {
                    let label = label_of(label);
                    self.begin_block(&label);
                }
                Step::Place(file, line, column) => {
                    if *line != 0 {
                        self.set_place((*file, *line, *column));
                    }
                }
                Step::Instruction(instruction) => {
                    self.line = instruction.line;
                    if !self.has_places {
                        self.set_place((0, instruction.line, 0));
                    }
                    if self.is_ended {
                        let label = self.fresh("unreached");
                        self.begin_block(&label);
                    }
                    self.guarded(instruction)?;
                }
            }
        }
        if !self.is_ended {
            self.return_from()?;
        }
        Ok(())
    }

    /// A return from the function, with its result.
    pub(super) fn return_from(&mut self) -> Result<(), PtxError> {
        let signature = signature_of(self.made, self.function);
        match signature.result.filter(|_| !self.function.is_kernel) {
            None => self.end("ret void"),
            Some(passed) => {
                let result = self.function.results[0].clone();
                let value = match result.space {
                    None => self.read_register(&result.name)?,
                    Some(_) => {
                        let address = format!("%{}", quoted(&format!("p.{}", result.name)));
                        let ty = Type::Int((passed.bytes() * 8) as u32);
                        let align = result.aligned();
                        self.op(ty, &format!("load {ty}, ptr {address}, align {align}"))
                    }
                };
                let value = self.as_type(value, Type::Int((passed.bytes() * 8) as u32));
                self.end(&format!("ret {value}"));
            }
        }
        Ok(())
    }

    fn set_place(&mut self, place: (u32, u32, u32)) {
        self.place = Some(self.made.places.place(self.scope, place));
    }

    /// An error at the instruction that is being lowered.
    pub(super) fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, PtxError> {
        Err(PtxError::unsupported(self.line, what.into()))
    }

    /// An error at the instruction that is being lowered.
    pub(super) fn wrong<T>(&self, what: impl Into<String>) -> Result<T, PtxError> {
        Err(PtxError::syntax(self.line, what.into()))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Named> {
        self.names.get(name)
    }

    pub(super) fn has_label(&self, label: &str) -> bool {
        self.labels.contains(label)
    }

    /// Whether a root is a kernel's parameter.
    pub(super) fn is_pointer_parameter(&self, name: &str) -> bool {
        self.pointers.contains(name)
    }

    /// A name that nothing else has.
    pub(super) fn fresh(&mut self, stem: &str) -> String {
        self.next += 1;
        format!("{stem}.{}", self.next)
    }

    /// Writes an instruction without a result.
    pub(super) fn emit(&mut self, instruction: &str) {
        let place = self
            .place
            .map_or_else(String::new, |place| format!(", !dbg !{place}"));
        let _ = writeln!(self.text, "  {instruction}{place}");
    }

    /// Writes an instruction with a result.
    pub(super) fn op(&mut self, ty: Type, instruction: &str) -> Value {
        self.next += 1;
        let name = format!("%t{}", self.next);
        self.emit(&format!("{name} = {instruction}"));
        Value::new(ty, name)
    }

    /// Writes an instruction that ends its block.
    pub(super) fn end(&mut self, instruction: &str) {
        self.emit(instruction);
        self.is_ended = true;
    }

    /// Begins a block, to which what stands before goes on.
    pub(super) fn begin_block(&mut self, label: &str) {
        if !self.is_ended {
            self.emit(&format!("br label %{}", quoted(label)));
        }
        let _ = writeln!(self.text, "{}:", quoted(label));
        self.is_ended = false;
    }

    /// The type of a register.
    pub(super) fn register(&self, name: &str) -> Option<Scalar> {
        match self.names.get(name) {
            Some(Named::Register(scalar)) => Some(*scalar),
            _ => None,
        }
    }

    pub(super) fn read_register(&mut self, name: &str) -> Result<Value, PtxError> {
        let Some(scalar) = self.register(name) else {
            return self.wrong(format!("`{name}` is no register"));
        };
        let ty = Type::of(scalar);
        let place = quoted(&format!("r.{name}"));
        let held = self.op(ty, &format!("load {ty}, ptr %{place}"));
        Ok(match self.roots.get(name).cloned() {
            Some((root, is_narrow)) => self.derived_address(held, &root, is_narrow),
            None => held,
        })
    }

    /// Gives a register a value of the same bits, or of fewer, which are extended.
    pub(super) fn write_register(
        &mut self,
        name: &str,
        value: Value,
        is_signed: bool,
    ) -> Result<(), PtxError> {
        if name == "_" {
            return Ok(());
        }
        let Some(scalar) = self.register(name) else {
            return self.wrong(format!("`{name}` is no register"));
        };
        let mut value = self.extended(value, Type::of(scalar), is_signed);
        if let Some((root, _)) = self.roots.get(name).cloned() {
            value = self.derived_distance(value, &root);
        }
        let place = quoted(&format!("r.{name}"));
        self.emit(&format!("store {value}, ptr %{place}"));
        Ok(())
    }

    /// Gives the first result of an instruction a value.
    pub(super) fn set(
        &mut self,
        result: &Operand,
        value: Value,
        is_signed: bool,
    ) -> Result<(), PtxError> {
        match result.name() {
            Some(name) => {
                let name = name.to_owned();
                self.write_register(&name, value, is_signed)
            }
            None => self.wrong("a register is expected as the result"),
        }
    }

    /// The whole function.
    fn finish(self) -> String {
        let function = self.function;
        let mut parameters = Vec::new();
        let mut before = String::new();
        let signature = signature_of(self.made, function);
        for (index, parameter) in function.parameters.iter().enumerate() {
            let argument = format!("%{}", quoted(&format!("a.{}", parameter.name)));
            let place = format!("%{}", quoted(&format!("p.{}", parameter.name)));
            let align = parameter.aligned();
            let passed = match function.is_kernel {
                true => Passed::of(parameter),
                false => signature.parameters[index].clone(),
            };
            if let (Passed::Memory(..), Some(_)) = (&passed, parameter.space) {
                // The argument is the memory.
                parameters.push(format!("{} {place}", passed.parameter()));
                continue;
            }
            let ty = match (function.is_kernel, self.pointers.contains(&parameter.name)) {
                (true, true) => Type::Pointer(0),
                (true, false) => Type::of(parameter.scalar),
                (false, _) => match passed {
                    Passed::Pointer => Type::Pointer(0),
                    Passed::Bits(bits) => Type::Int(bits),
                    Passed::Memory(bytes, _) => Type::Int((bytes * 8) as u32),
                },
            };
            parameters.push(format!("{ty} {argument}"));
            if parameter.space.is_some() {
                let bytes = parameter.bytes().max(u64::from(ty.bits().div_ceil(8)));
                let _ = writeln!(before, "  {place} = alloca [{bytes} x i8], align {align}");
                let _ = writeln!(
                    before,
                    "  store {ty} {argument}, ptr {place}, align {align}"
                );
            }
        }
        if !function.is_kernel {
            for result in function
                .results
                .iter()
                .filter(|result| result.space.is_some())
            {
                let place = format!("%{}", quoted(&format!("p.{}", result.name)));
                let (bytes, align) = (result.bytes().max(1), result.aligned());
                let _ = writeln!(before, "  {place} = alloca [{bytes} x i8], align {align}");
            }
        }
        for variable in &self.flat.variables {
            if matches!(
                variable.space,
                Some(Space::Shared | Space::Global | Space::Constant)
            ) {
                continue;
            }
            let place = format!("%{}", quoted(&format!("v.{}", variable.name)));
            let (bytes, align) = (variable.bytes().max(1), variable.aligned());
            let _ = writeln!(before, "  {place} = alloca [{bytes} x i8], align {align}");
        }
        for (name, scalar) in &self.flat.registers {
            let ty = Type::of(*scalar);
            let place = quoted(&format!("r.{name}"));
            let _ = writeln!(before, "  %{place} = alloca {ty}");
        }
        for parameter in (function.parameters.iter()).filter(|parameter| parameter.space.is_none())
        {
            let ty = Type::of(parameter.scalar);
            let argument = quoted(&format!("a.{}", parameter.name));
            let place = quoted(&format!("r.{}", parameter.name));
            let bits = parameter.scalar.bits.max(8);
            let _ = match ty {
                Type::Int(width) if width == bits => {
                    writeln!(before, "  store {ty} %{argument}, ptr %{place}")
                }
                _ => writeln!(before, "  store i{bits} %{argument}, ptr %{place}"),
            };
        }
        if self.uses_carry {
            before.push_str("  %carry = alloca i1\n  store i1 false, ptr %carry\n");
        }
        let name = quoted(&function.name);
        let scope = self.scope;
        let head = match function.is_kernel {
            true => {
                let attributes = self.kernel_attributes();
                let number = FIRST_OF_KERNELS + self.made.kernel_attributes.len();
                self.made.kernel_attributes.push(attributes);
                // A kernel that is not visible can be launched by whoever finds it in the module.
                let linkage = match function.linkage {
                    Linkage::Weak => "weak_odr ",
                    _ => "",
                };
                format!(
                    "define {linkage}ptx_kernel void @{name}({}) #{number} !dbg !{scope} {{\n",
                    parameters.join(", ")
                )
            }
            false => format!(
                "define {}{} @{name}({}) #0 !dbg !{scope} {{\n",
                linkage(function.linkage),
                signature.result(),
                parameters.join(", ")
            ),
        };
        format!("\n{head}{before}{}}}\n", self.text)
    }

    /// What a kernel's directives say, as clang's attributes.
    fn kernel_attributes(&self) -> String {
        let mut text = String::new();
        for (name, numbers) in &self.function.directives {
            let attribute = match name.as_str() {
                "maxntid" => "nvvm.maxntid",
                "reqntid" => "nvvm.reqntid",
                "minnctapersm" => "nvvm.minctasm",
                "maxnreg" => "nvvm.maxnreg",
                "reqnctapercluster" => "nvvm.cluster_dim",
                "maxclusterrank" => "nvvm.maxclusterrank",
                // What they ask of the driver changes nothing in the kernel.
                _ => continue,
            };
            let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
            let _ = write!(text, "\"{attribute}\"=\"{}\" ", numbers.join(","));
        }
        text
    }
}

/// How a function is called; a kernel is not.
fn signature_of(made: &Made, function: &Function) -> Signature {
    let known = made.functions.get(&function.name).cloned();
    known.unwrap_or_else(|| Signature::of(function))
}

/// Which parameters of a function addresses are derived from, by their places: they are passed as pointers where all
/// calls name the function.
pub(super) fn pointer_parameters(
    function: &Function,
    is_variable: &dyn Fn(&str) -> bool,
) -> Result<HashSet<usize>, PtxError> {
    let flat = flatten(function)?;
    let own = |name: &str| {
        flat.variables
            .iter()
            .any(|variable| variable.name == name && variable.space != Some(Space::Parameter))
    };
    let parameters = function.parameters.iter();
    let candidates: HashSet<String> = parameters
        .filter(|parameter| is_pointer_sized(parameter) && parameter.space.is_some())
        .map(|parameter| parameter.name.clone())
        .collect();
    let roots = roots(&flat, &|name| own(name) || is_variable(name), &candidates);
    let used = addressed(&flat, &roots);
    let parameters = function.parameters.iter().enumerate();
    Ok(parameters
        .filter(|(_, parameter)| {
            candidates.contains(&parameter.name) && used.contains(&parameter.name)
        })
        .map(|(index, _)| index)
        .collect())
}

/// The block of a label.
pub(super) fn label_of(label: &str) -> String {
    format!("l.{label}")
}

fn is_pointer_sized(parameter: &Variable) -> bool {
    parameter.scalar.bits == 64
        && !parameter.is_array()
        && parameter.vector == 1
        && !parameter.scalar.is_float()
}

/// The roots of the addresses in a function's operands.
fn addressed(flat: &Flat, roots: &HashMap<String, (String, bool)>) -> HashSet<String> {
    let instructions = flat.steps.iter().filter_map(|step| match step {
        Step::Instruction(instruction) => Some(instruction),
        _ => None,
    });
    let bases = instructions
        .flat_map(|instruction| &instruction.operands)
        .filter_map(|operand| match operand {
            Operand::Memory(base, _) => base.name(),
            _ => None,
        });
    bases
        .filter_map(|name| roots.get(name).map(|(root, _)| root.clone()))
        .collect()
}
