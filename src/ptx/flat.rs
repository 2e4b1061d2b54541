//! A function's statements without nested blocks: names that a block declares get its number, so that each name
//! means one thing in the whole function.

use super::PtxError;
use super::syntax::{Function, Instruction, Operand, Scalar, Statement, Variable};
use std::collections::{HashMap, HashSet};

/// A function's statements in a row.
#[derive(Debug, Default)]
pub(super) struct Flat {
    /// Registers that are used, with their types, in the order of their first use.
    pub(super) registers: Vec<(String, Scalar)>,
    /// Variables that it declares, in any space.
    pub(super) variables: Vec<Variable>,
    /// What is executed.
    pub(super) steps: Vec<Step>,
    /// Labels of `.branchtargets`.
    pub(super) tables: HashMap<String, Vec<String>>,
    /// Results and parameters of `.callprototype`.
    pub(super) prototypes: HashMap<String, (Vec<Variable>, Vec<Variable>)>,
}

/// A step of a function.
#[derive(Debug)]
pub(super) enum Step {
    Label(String),
    Instruction(Instruction),
    Place(u32, u32, u32),
}

/// Takes blocks apart.
///
/// # Errors
/// A register that is declared nowhere is found by whoever reads it; here nothing can fail but a vector of
/// registers as a place.
pub(super) fn flatten(function: &Function) -> Result<Flat, PtxError> {
    let mut flattening = Flattening {
        flat: Flat::default(),
        scopes: vec![Scope::default()],
        count: 0,
        seen: HashSet::new(),
    };
    let parameters = function.parameters.iter().chain(&function.results);
    for register in parameters.filter(|variable| variable.space.is_none()) {
        flattening.used(register.name.clone(), register.scalar);
        flattening.scopes[0]
            .registers
            .insert(register.name.clone(), (register.scalar, 1));
    }
    flattening.block(function.body.as_deref().unwrap_or_default())?;
    Ok(flattening.flat)
}

#[derive(Default)]
struct Scope {
    suffix: String,
    /// Registers by name, elements of vectors by theirs.
    registers: HashMap<String, (Scalar, u32)>,
    /// `%r<10>`.
    ranges: HashMap<String, (u32, Scalar, u32)>,
    /// New names of what is no register.
    names: HashMap<String, String>,
}

struct Flattening {
    flat: Flat,
    scopes: Vec<Scope>,
    count: usize,
    /// Registers that are used.
    seen: HashSet<String>,
}

/// The names of a vector's elements.
const ELEMENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Flattening {
    fn block(&mut self, statements: &[Statement]) -> Result<(), PtxError> {
        for statement in statements {
            self.declare(statement);
        }
        for statement in statements {
            match statement {
                Statement::Registers { .. } => {}
                Statement::Variable(variable) => {
                    let name = self.renamed(&variable.name);
                    self.flat.variables.push(Variable {
                        name,
                        ..variable.clone()
                    });
                }
                Statement::Label(label) => {
                    let label = self.renamed(label);
                    self.flat.steps.push(Step::Label(label));
                }
                Statement::Instruction(instruction) => {
                    let instruction = self.instruction(instruction);
                    self.flat.steps.push(Step::Instruction(instruction));
                }
                Statement::Place(file, line, column) => {
                    self.flat.steps.push(Step::Place(*file, *line, *column));
                }
                Statement::Block(inner) => {
                    self.count += 1;
                    self.scopes.push(Scope {
                        suffix: format!("@{}", self.count),
                        ..Scope::default()
                    });
                    self.block(inner)?;
                    self.scopes.pop();
                }
                Statement::BranchTargets(label, targets) => {
                    let targets = targets.iter().map(|target| self.renamed(target)).collect();
                    let label = self.renamed(label);
                    self.flat.tables.insert(label, targets);
                }
                Statement::Prototype {
                    label,
                    results,
                    parameters,
                } => {
                    let label = self.renamed(label);
                    let prototype = (results.clone(), parameters.clone());
                    self.flat.prototypes.insert(label, prototype);
                }
            }
        }
        Ok(())
    }

    fn declare(&mut self, statement: &Statement) {
        let Some(scope) = self.scopes.last_mut() else {
            return;
        };
        match statement {
            Statement::Registers {
                scalar,
                vector,
                names,
            } => {
                for (name, count) in names {
                    match count {
                        Some(count) => {
                            let range = (*count, *scalar, *vector);
                            scope.ranges.insert(name.clone(), range);
                        }
                        None => {
                            scope.registers.insert(name.clone(), (*scalar, *vector));
                        }
                    }
                }
            }
            Statement::Variable(Variable { name, .. })
            | Statement::Label(name)
            | Statement::BranchTargets(name, _)
            | Statement::Prototype { label: name, .. } => {
                let new = format!("{name}{}", scope.suffix);
                scope.names.insert(name.clone(), new);
            }
            _ => {}
        }
    }

    /// The new name of what is no register; names of the module stay.
    fn renamed(&self, name: &str) -> String {
        let mut scopes = self.scopes.iter().rev();
        let found = scopes.find_map(|scope| scope.names.get(name));
        found.cloned().unwrap_or_else(|| name.to_owned())
    }

    fn instruction(&mut self, instruction: &Instruction) -> Instruction {
        let operands = &instruction.operands;
        Instruction {
            line: instruction.line,
            guard: instruction.guard.as_ref().map(|(name, negated)| {
                let name = match self.operand(&Operand::Name(name.clone(), 0)) {
                    Operand::Name(name, _) => name,
                    _ => name.clone(),
                };
                (name, *negated)
            }),
            opcode: instruction.opcode.clone(),
            operands: operands.iter().map(|each| self.operand(each)).collect(),
        }
    }

    fn operand(&mut self, operand: &Operand) -> Operand {
        let mut all = |parts: &[Operand]| parts.iter().map(|part| self.operand(part)).collect();
        match operand {
            Operand::Name(name, offset) => self.name(name, *offset),
            Operand::Memory(base, offset) => Operand::Memory(Box::new(self.operand(base)), *offset),
            Operand::Texel(base, coordinates) => {
                let coordinates = all(coordinates);
                Operand::Texel(Box::new(self.operand(base)), coordinates)
            }
            Operand::Vector(parts) => Operand::Vector(all(parts)),
            Operand::List(parts) => Operand::List(all(parts)),
            Operand::Pair(first, second) => Operand::Pair(
                Box::new(self.operand(first)),
                Box::new(self.operand(second)),
            ),
            Operand::Not(inner) => Operand::Not(Box::new(self.operand(inner))),
            Operand::Negative(inner) => Operand::Negative(Box::new(self.operand(inner))),
            literal => literal.clone(),
        }
    }

    fn name(&mut self, name: &str, offset: i64) -> Operand {
        if let Some((scalar, vector, suffix)) = self.register(name) {
            if vector > 1 {
                let elements = ELEMENTS[..vector as usize].iter();
                let elements = elements.map(|element| {
                    self.used(format!("{name}.{element}{suffix}"), scalar);
                    Operand::Name(format!("{name}.{element}{suffix}"), 0)
                });
                return Operand::Vector(elements.collect());
            }
            let new = format!("{name}{suffix}");
            self.used(new.clone(), scalar);
            return Operand::Name(new, offset);
        }
        if let Some((whole, element)) = name.rsplit_once('.')
            && ELEMENTS.contains(&element)
            && let Some((scalar, _, suffix)) = self.register(whole)
        {
            let new = format!("{name}{suffix}");
            self.used(new.clone(), scalar);
            return Operand::Name(new, offset);
        }
        Operand::Name(self.renamed(name), offset)
    }

    fn used(&mut self, name: String, scalar: Scalar) {
        if self.seen.insert(name.clone()) {
            self.flat.registers.push((name, scalar));
        }
    }

    /// Type, elements and the suffix of a register's scope.
    fn register(&self, name: &str) -> Option<(Scalar, u32, String)> {
        let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let number: Option<u32> = name[stem.len()..].parse().ok();
        for scope in self.scopes.iter().rev() {
            if let Some((scalar, vector)) = scope.registers.get(name) {
                return Some((*scalar, *vector, scope.suffix.clone()));
            }
            let range = scope.ranges.get(stem);
            if let (Some((count, scalar, vector)), Some(number)) = (range, number)
                && number < *count
            {
                return Some((*scalar, *vector, scope.suffix.clone()));
            }
            if scope.names.contains_key(name) {
                return None;
            }
        }
        None
    }
}
