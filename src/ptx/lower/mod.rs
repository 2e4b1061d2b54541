//! The tree -> LLVM IR as a text.

mod address;
mod numbers;
mod assembly;
mod atomics;
mod calls;
mod function;
mod instruction;
mod memory;
mod places;
mod predicates;
mod special;
mod tiles;
mod values;
mod variables;
mod warps;

use super::PtxError;
use super::syntax::{
    Function, Initializer, Item, Linkage, Module, Operand, Space, Statement, Variable,
};
use places::Places;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// A device module.
#[derive(Clone, Debug)]
pub struct DeviceModule {
    /// LLVM IR for `nvptx64`.
    pub text: String,
    /// Its `.managed` variables: names, and sizes in bytes.
    pub managed: Vec<(String, u64)>,
}

/// The device module of a PTX module; `name` is that of its file.
///
/// # Errors
/// What is no PTX or is not understood, with its line.
pub fn device_module(module: &Module, name: &str) -> Result<DeviceModule, PtxError> {
    let mut made = Made::new(module, name);
    made.pass_pointers(module)?;
    for item in &module.items {
        match item {
            Item::Variable(variable) => variables::define(&mut made, variable)?,
            Item::Function(function) => function::define(&mut made, function)?,
            Item::Alias { .. } => {}
        }
    }
    for item in &module.items {
        if let Item::Alias { name, target } = item {
            let Some(signature) = made.functions.get(target).cloned() else {
                let what = format!("an alias of `{target}`, which is no function of the module,");
                return Err(PtxError::unsupported(1, what));
            };
            let ty = signature.ty();
            let name = values::quoted(name);
            let _ = writeln!(
                made.text,
                "@{name} = alias {ty}, ptr @{}",
                values::quoted(target)
            );
        }
    }
    let mut text = format!(
        "target datalayout = \"{LAYOUT}\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\n{}\n",
        made.text
    );
    for declaration in &made.declarations {
        // What the module defines itself needs none.
        let _ = writeln!(text, "{declaration}");
    }
    text.push_str(ATTRIBUTES);
    for (index, attributes) in made.kernel_attributes.iter().enumerate() {
        let _ = writeln!(
            text,
            "attributes #{} = {{ convergent noinline nounwind {attributes}}}",
            FIRST_OF_KERNELS + index
        );
    }
    text.push_str(&made.places.metadata());
    Ok(DeviceModule {
        text,
        managed: made.managed,
    })
}

/// Of clang's device modules.
const LAYOUT: &str = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

/// Of functions, calls that all threads of a warp make together, and helpers.
const ATTRIBUTES: &str = "\nattributes #0 = { convergent nounwind }\n\
    attributes #1 = { alwaysinline nounwind memory(none) }\n\
    attributes #2 = { convergent noreturn nounwind }\n\
    attributes #3 = { nounwind willreturn memory(none) }\n";

/// The number of the first kernel's attributes.
const FIRST_OF_KERNELS: usize = 4;

/// What is being made of a module.
struct Made {
    text: String,
    declarations: BTreeSet<String>,
    /// How functions are called, by name.
    functions: HashMap<String, Signature>,
    /// Variables of the module, by name: their symbols and spaces.
    variables: HashMap<String, (String, Space)>,
    managed: Vec<(String, u64)>,
    kernel_attributes: Vec<String>,
    places: Places,
    /// Names of symbols that are taken.
    symbols: BTreeMap<String, u32>,
    /// Functions with a body.
    defined: HashSet<String>,
}

/// How a function is called.
#[derive(Clone, Debug)]
struct Signature {
    result: Option<Passed>,
    parameters: Vec<Passed>,
    never_returns: bool,
}

/// How a parameter or a result is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Passed {
    /// As an integer of so many bits.
    Bits(u32),
    /// As a pointer, to a function of the runtime.
    Pointer,
    /// In memory: bytes, alignment.
    Memory(u64, u32),
}

impl Passed {
    fn of(variable: &Variable) -> Self {
        let bytes = variable.bytes();
        match variable.is_array() || variable.vector > 1 {
            true => Self::Memory(bytes, variable.aligned()),
            false => Self::Bits(variable.scalar.bits.max(8)),
        }
    }

    /// Its type as a parameter.
    fn parameter(&self) -> String {
        match self {
            Self::Bits(bits) => format!("i{bits}"),
            Self::Pointer => "ptr".to_owned(),
            Self::Memory(bytes, alignment) => {
                format!("ptr byval([{bytes} x i8]) align {alignment}")
            }
        }
    }

    /// Its type as a result.
    fn result(&self) -> String {
        match self {
            Self::Bits(bits) => format!("i{bits}"),
            Self::Pointer => "ptr".to_owned(),
            Self::Memory(bytes, _) => format!("i{}", bytes * 8),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::Bits(bits) => u64::from(bits.div_ceil(8)),
            Self::Pointer => 8,
            Self::Memory(bytes, _) => *bytes,
        }
    }
}

impl Signature {
    fn of(function: &Function) -> Self {
        known_function(&function.name).unwrap_or_else(|| Self {
            result: function.results.first().map(Passed::of),
            parameters: function.parameters.iter().map(Passed::of).collect(),
            never_returns: function.never_returns,
        })
    }

    fn result(&self) -> String {
        self.result
            .as_ref()
            .map_or_else(|| "void".to_owned(), Passed::result)
    }

    /// The function's type.
    fn ty(&self) -> String {
        let parameters = self.parameters.iter().map(|each| match each {
            Passed::Memory(..) => "ptr".to_owned(),
            other => other.parameter(),
        });
        let parameters: Vec<String> = parameters.collect();
        format!("{} ({})", self.result(), parameters.join(", "))
    }
}

/// The functions that every device program has.
fn known_function(name: &str) -> Option<Signature> {
    use Passed::{Bits, Pointer};
    let (result, parameters) = match name {
        "vprintf" => (Some(Bits(32)), vec![Pointer, Pointer]),
        "malloc" => (Some(Pointer), vec![Bits(64)]),
        "free" => (None, vec![Pointer]),
        "__assertfail" => (None, vec![Pointer, Pointer, Bits(32), Pointer, Bits(64)]),
        _ => return None,
    };
    Some(Signature {
        result,
        parameters,
        never_returns: name == "__assertfail",
    })
}

impl Made {
    fn new(module: &Module, name: &str) -> Self {
        let mut made = Self {
            text: String::new(),
            declarations: BTreeSet::new(),
            functions: HashMap::new(),
            variables: HashMap::new(),
            managed: Vec::new(),
            kernel_attributes: Vec::new(),
            places: Places::new(name, &module.files),
            symbols: BTreeMap::new(),
            defined: HashSet::new(),
        };
        for item in &module.items {
            if let Item::Function(function) = item
                && function.body.is_some()
            {
                made.defined.insert(function.name.clone());
            }
            match item {
                Item::Function(function) if !function.is_kernel => {
                    let signature = Signature::of(function);
                    made.functions.insert(function.name.clone(), signature);
                }
                Item::Function(function) => {
                    made.functions.insert(
                        function.name.clone(),
                        Signature {
                            result: None,
                            parameters: Vec::new(),
                            never_returns: false,
                        },
                    );
                }
                Item::Variable(variable) => {
                    let space = variable.space.unwrap_or(Space::Global);
                    let named = (variable.name.clone(), space);
                    made.variables.insert(variable.name.clone(), named);
                }
                Item::Alias { .. } => {}
            }
        }
        for item in &module.items {
            if let Item::Alias { name, target } = item
                && let Some(signature) = made.functions.get(target).cloned()
            {
                made.functions.insert(name.clone(), signature);
            }
        }
        made
    }

    /// Finds which parameters are passed as pointers.
    fn pass_pointers(&mut self, module: &Module) -> Result<(), PtxError> {
        let taken = taken_addresses(module);
        for item in &module.items {
            let Item::Function(function) = item else {
                continue;
            };
            let is_here = function.body.is_some() && !function.is_kernel;
            if !is_here
                || taken.contains(&function.name)
                || known_function(&function.name).is_some()
            {
                continue;
            }
            let variables = &self.variables;
            let is_variable = |name: &str| variables.contains_key(name);
            let pointers = function::pointer_parameters(function, &is_variable)?;
            if let Some(signature) = self.functions.get_mut(&function.name) {
                for index in pointers {
                    signature.parameters[index] = Passed::Pointer;
                }
            }
        }
        Ok(())
    }

    /// A symbol that nothing else has.
    fn own_symbol(&mut self, name: &str) -> String {
        let count = self.symbols.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let is_taken = self.variables.contains_key(name) || self.functions.contains_key(name);
        match (*count, is_taken) {
            (1, false) => name.to_owned(),
            (number, _) => format!("{name}.{number}"),
        }
    }

    /// Declares a function, once.
    fn declare(&mut self, declaration: String) {
        self.declarations.insert(declaration);
    }
}

/// Names whose addresses the module takes, or that have another name: who calls them so does not know how.
fn taken_addresses(module: &Module) -> HashSet<String> {
    let mut taken = HashSet::new();
    for item in &module.items {
        match item {
            Item::Variable(variable) => {
                variable
                    .initializer
                    .iter()
                    .for_each(|value| named_in(value, &mut taken));
            }
            Item::Function(function) => {
                let body = function.body.as_deref().unwrap_or_default();
                body.iter()
                    .for_each(|statement| mentioned_in(statement, &mut taken));
            }
            Item::Alias { name, target } => taken.extend([name.clone(), target.clone()]),
        }
    }
    taken
}

fn named_in(initializer: &Initializer, names: &mut HashSet<String>) {
    match initializer {
        Initializer::List(list) => list.iter().for_each(|each| named_in(each, names)),
        Initializer::Address { symbol, .. } => {
            names.insert(symbol.clone());
        }
        _ => {}
    }
}

/// Names that instructions other than calls have as operands.
fn mentioned_in(statement: &Statement, names: &mut HashSet<String>) {
    match statement {
        Statement::Block(inner) => inner.iter().for_each(|each| mentioned_in(each, names)),
        Statement::Instruction(instruction) if instruction.opcode[0] != "call" => {
            let operands = instruction.operands.iter();
            names.extend(operands.filter_map(Operand::name).map(str::to_owned));
        }
        _ => {}
    }
}

/// LLVM's number of a space.
fn address_space(space: Space) -> u32 {
    match space {
        Space::Global => 1,
        Space::Shared => 3,
        Space::Constant => 4,
        Space::Generic | Space::Local | Space::Parameter => 0,
    }
}

/// LLVM's word for who sees a function or a variable.
fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Module => "internal ",
        Linkage::Visible | Linkage::External => "",
        Linkage::Weak | Linkage::Common => "weak_odr ",
    }
}
