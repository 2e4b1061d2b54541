//! What typed definitions mean, on tensors of this process: every statement on whole tensors, everything read before anything
//! is written.
//!
//! It shares no code with the mappings and with the emission: each value is computed in the type that the statement says, with
//! the operations of Rust, and each statement writes a copy of its tensor, so that what is changed in place is as if it were
//! not.

use sirius_rs::tensor::linear::Atom;
use sirius_rs::tensor::linear::Linear;
use sirius_rs::tensor::program::{
    Bound, Function, Role, Statement, Step, Subscript, SymbolKind, Value, ValueKind,
};
use sirius_rs::tensor::syntax::tree::{Binary, Operator, Reduction, Unary};
use sirius_rs::tensor::types::Scalar;

/// A number of a type in which values are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `int` and all narrower ones.
    Int(i32),
    /// `unsigned int`.
    Unsigned(u32),
    /// `long long`.
    Long(i64),
    /// `unsigned long long`.
    UnsignedLong(u64),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
}

use Number::{Double, Float, Int, Long, Unsigned, UnsignedLong};

impl Number {
    fn integer(self) -> i128 {
        match self {
            Int(x) => x.into(),
            Unsigned(x) => x.into(),
            Long(x) => x.into(),
            UnsignedLong(x) => x.into(),
            // As C++ converts: towards zero.
            Float(x) => x as i128,
            Double(x) => x as i128,
        }
    }

    fn double(self) -> f64 {
        match self {
            Float(x) => x.into(),
            Double(x) => x,
            other => other.integer() as f64,
        }
    }

    fn truth(self) -> bool {
        match self {
            Float(x) => x != 0.0,
            Double(x) => x != 0.0,
            other => other.integer() != 0,
        }
    }

    /// Converted to the type in which values of a type are computed.
    fn of(self, computed: Scalar) -> Self {
        match computed {
            Scalar::Float => Float(match self {
                Float(x) => x,
                Double(x) => x as f32,
                other => other.integer() as f32,
            }),
            Scalar::Double => Double(self.double()),
            Scalar::Uint32 => Unsigned(self.integer() as u32),
            Scalar::Int64 => Long(self.integer() as i64),
            Scalar::Uint64 => UnsignedLong(self.integer() as u64),
            _ => Int(self.integer() as i32),
        }
    }

    /// Rounded to what an element of a type holds, as it is read again.
    pub fn stored(self, scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool => Int(self.truth().into()),
            Scalar::Int8 => Int((self.integer() as i8).into()),
            Scalar::Uint8 => Int((self.integer() as u8).into()),
            Scalar::Int16 => Int((self.integer() as i16).into()),
            Scalar::Uint16 => Int((self.integer() as u16).into()),
            Scalar::Half => Float(rounded(self.of(Scalar::Float).double(), 11, -14, 65504.0)),
            Scalar::Bfloat16 => {
                let largest = f64::from(f32::from_bits(0x7f7f_0000));
                Float(rounded(self.of(Scalar::Float).double(), 8, -126, largest))
            }
            other => self.of(other.computed()),
        }
    }

    /// The value in double precision, which holds all that the generator makes.
    pub fn value(self) -> f64 {
        self.double()
    }
}

/// The nearest number of so many bits whose exponent is at least `lowest`, the even one of two; beyond the largest one it is
/// infinite.
fn rounded(number: f64, bits: i32, lowest: i32, largest: f64) -> f32 {
    if number == 0.0 || !number.is_finite() {
        return number as f32;
    }
    let exponent = (number.abs().log2().floor() as i32).max(lowest);
    let step = 2f64.powi(exponent - bits + 1);
    let nearest = (number / step).round_ties_even() * step;
    match nearest.abs() > largest {
        true => f32::INFINITY.copysign(number as f32),
        false => nearest as f32,
    }
}

/// Elements in row-major order, with their extents.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// The extents.
    pub extents: Vec<i64>,
    /// The elements.
    pub elements: Vec<Number>,
}

/// The contents of all tensors of a function after it has run, by their numbers. `sizes` has the value of each symbol that is
/// a size or a value, `inputs` those of tensors that are inputs.
pub fn run(function: &Function, sizes: &[i64], inputs: &[Option<Data>]) -> Vec<Data> {
    let mut machine = Machine {
        function,
        symbols: sizes.to_vec(),
        tensors: Vec::new(),
    };
    for (tensor, input) in function.tensors.iter().zip(inputs) {
        let extents: Vec<i64> = tensor
            .extents
            .iter()
            .map(|extent| machine.form(extent, &[]))
            .collect();
        let count: i64 = extents.iter().product();
        let data = input.clone().unwrap_or(Data {
            extents,
            elements: vec![Int(0).stored(tensor.scalar); usize::try_from(count).unwrap()],
        });
        machine.tensors.push(data);
    }
    machine.steps(&function.body);
    machine.tensors
}

struct Machine<'f> {
    function: &'f Function,
    symbols: Vec<i64>,
    tensors: Vec<Data>,
}

impl Machine<'_> {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Statement(statement) => self.statement(statement),
                Step::Loop(time_loop) => {
                    let low = self.form(&time_loop.low, &[]);
                    let high = self.form(&time_loop.high, &[]);
                    for time in low..high {
                        self.symbols[time_loop.symbol] = time;
                        self.steps(&time_loop.body);
                    }
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let target = &self.function.tensors[statement.target];
        let computed = target.scalar.computed();
        let mut written = self.tensors[statement.target].clone();
        if let (true, Operator::Reduce(reduction, true)) = (statement.scatter, statement.operator) {
            written.elements.fill(neutral(reduction, target.scalar));
        }
        let free = statement.free().count();
        let mut indices = Vec::new();
        self.each(statement, free, &mut indices, &mut |machine, indices| {
            let Some(place) = machine.place(&written.extents, &statement.subscripts, indices)
            else {
                return;
            };
            let Operator::Reduce(reduction, starts) = statement.operator else {
                let value = machine.value(&statement.value, indices);
                written.elements[place] = value.of(computed).stored(target.scalar);
                return;
            };
            let mut sum = match starts && !statement.scatter {
                true => neutral(reduction, target.scalar),
                false => written.elements[place],
            };
            let all = statement.variables.len();
            machine.each(
                statement,
                all,
                &mut indices.clone(),
                &mut |machine, indices| {
                    let term = machine.value(&statement.value, indices);
                    sum = joined(reduction, sum, term.of(computed));
                },
            );
            written.elements[place] = sum.stored(target.scalar);
        });
        self.tensors[statement.target] = written;
    }

    /// Calls `visit` for all values of the indices from those that are given up to number `until`, in order.
    fn each(
        &self,
        statement: &Statement,
        until: usize,
        indices: &mut Vec<i64>,
        visit: &mut dyn FnMut(&Self, &Vec<i64>),
    ) {
        if indices.len() == until {
            return visit(self, indices);
        }
        let variable = &statement.variables[indices.len()];
        let bound = |bound: &Bound| match bound {
            Bound::Linear(form) => self.form(form, indices),
            Bound::Data(value) => self.value(value, indices).integer() as i64,
        };
        for index in bound(&variable.low)..bound(&variable.high) {
            indices.push(index);
            self.each(statement, until, indices, visit);
            indices.pop();
        }
    }

    fn form(&self, form: &Linear, indices: &[i64]) -> i64 {
        form.value(&|atom| match atom {
            Atom::Symbol(symbol) => self.symbols[*symbol],
            Atom::Variable(variable) => indices[*variable],
            _ => unreachable!("parts of a form are computed from these"),
        })
        .expect("sizes are small")
    }

    /// `None` where a subscript is outside; one that is not guarded must not be.
    fn place(&self, extents: &[i64], subscripts: &[Subscript], indices: &[i64]) -> Option<usize> {
        let mut place = 0;
        for (subscript, extent) in subscripts.iter().zip(extents) {
            let index = match &subscript.linear {
                Some(form) => self.form(form, indices),
                None => self.whole(&subscript.value, indices),
            };
            if !(0..*extent).contains(&index) {
                assert!(
                    subscript.guarded,
                    "an access is outside, and nothing guards it"
                );
                return None;
            }
            place = place * extent + index;
        }
        Some(usize::try_from(place).unwrap())
    }

    /// A subscript that data give.
    fn whole(&self, value: &Value, indices: &[i64]) -> i64 {
        self.value(value, indices).integer() as i64
    }

    fn value(&self, value: &Value, indices: &[i64]) -> Number {
        let computed = value.scalar.computed();
        match &value.kind {
            ValueKind::Integer(number) => Long(*number).of(computed),
            ValueKind::Real(number) => Double(*number).of(computed),
            ValueKind::Variable(variable) => Long(indices[*variable]).of(computed),
            ValueKind::Size(form) => Long(self.form(form, indices)).of(computed),
            ValueKind::Read { tensor, subscripts } => {
                let known = &self.function.tensors[*tensor];
                let data = &self.tensors[*tensor];
                if known.role == Role::Value {
                    return data.elements[0];
                }
                match self.place(&data.extents, subscripts, indices) {
                    Some(place) => data.elements[place],
                    None => Int(0).of(computed),
                }
            }
            ValueKind::Unary(Unary::Not, operand) => {
                Int((!self.value(operand, indices).truth()).into())
            }
            ValueKind::Unary(Unary::Negate, operand) => match self.value(operand, indices) {
                Int(x) => Int(x.wrapping_neg()),
                Unsigned(x) => Unsigned(x.wrapping_neg()),
                Long(x) => Long(x.wrapping_neg()),
                UnsignedLong(x) => UnsignedLong(x.wrapping_neg()),
                Float(x) => Float(-x),
                Double(x) => Double(-x),
            },
            ValueKind::Binary(Binary::And, left, right) => Int((self.value(left, indices).truth()
                && self.value(right, indices).truth())
            .into()),
            ValueKind::Binary(Binary::Or, left, right) => Int((self.value(left, indices).truth()
                || self.value(right, indices).truth())
            .into()),
            ValueKind::Binary(operator, left, right) => {
                if operator.is_truth()
                    && let Some((left, right)) = Value::compared(left, right, self.function)
                {
                    return compared(
                        *operator,
                        self.form(&left, indices),
                        self.form(&right, indices),
                    );
                }
                let joined = left.scalar.joined(right.scalar).computed();
                let a = self.value(left, indices).of(joined);
                let b = self.value(right, indices).of(joined);
                binary(*operator, a, b)
            }
            ValueKind::Select(condition, then, other) => {
                let chosen = match self.value(condition, indices).truth() {
                    true => then,
                    false => other,
                };
                self.value(chosen, indices).of(computed)
            }
            ValueKind::Call(builtin, wanted, arguments) => {
                let arguments: Vec<Number> = arguments
                    .iter()
                    .map(|argument| self.value(argument, indices).of(wanted.computed()))
                    .collect();
                call(builtin.name, &arguments).of(computed)
            }
            ValueKind::Cast(operand) => self.value(operand, indices).stored(value.scalar),
        }
    }
}

fn binary(operator: Binary, a: Number, b: Number) -> Number {
    macro_rules! whole {
        ($make:ident, $a:expr, $b:expr) => {
            match operator {
                Binary::Add => $make($a.wrapping_add($b)),
                Binary::Subtract => $make($a.wrapping_sub($b)),
                Binary::Multiply => $make($a.wrapping_mul($b)),
                Binary::Divide => $make($a.wrapping_div($b)),
                Binary::Remainder => $make($a.wrapping_rem($b)),
                _ => compared(operator, $a, $b),
            }
        };
    }
    macro_rules! real {
        ($make:ident, $a:expr, $b:expr) => {
            match operator {
                Binary::Add => $make($a + $b),
                Binary::Subtract => $make($a - $b),
                Binary::Multiply => $make($a * $b),
                Binary::Divide => $make($a / $b),
                _ => compared(operator, $a, $b),
            }
        };
    }
    match (a, b) {
        (Int(a), Int(b)) => whole!(Int, a, b),
        (Unsigned(a), Unsigned(b)) => whole!(Unsigned, a, b),
        (Long(a), Long(b)) => whole!(Long, a, b),
        (UnsignedLong(a), UnsignedLong(b)) => whole!(UnsignedLong, a, b),
        (Float(a), Float(b)) => real!(Float, a, b),
        (Double(a), Double(b)) => real!(Double, a, b),
        _ => unreachable!("both sides have been converted to one type"),
    }
}

fn compared<T: PartialOrd>(operator: Binary, a: T, b: T) -> Number {
    let holds = match operator {
        Binary::Less => a < b,
        Binary::LessEqual => a <= b,
        Binary::Greater => a > b,
        Binary::GreaterEqual => a >= b,
        Binary::Equal => a == b,
        _ => a != b,
    };
    Int(holds.into())
}

fn neutral(reduction: Reduction, scalar: Scalar) -> Number {
    let computed = scalar.computed();
    let (least, most): (i128, i128) = match scalar {
        Scalar::Bool => (0, 1),
        Scalar::Int8 => (i8::MIN.into(), i8::MAX.into()),
        Scalar::Uint8 => (0, u8::MAX.into()),
        Scalar::Int16 => (i16::MIN.into(), i16::MAX.into()),
        Scalar::Uint16 => (0, u16::MAX.into()),
        Scalar::Int32 => (i32::MIN.into(), i32::MAX.into()),
        Scalar::Uint32 => (0, u32::MAX.into()),
        Scalar::Int64 => (i64::MIN.into(), i64::MAX.into()),
        Scalar::Uint64 => (0, u64::MAX.into()),
        _ => {
            let infinity = Double(f64::INFINITY).of(computed);
            let negative = Double(f64::NEG_INFINITY).of(computed);
            return match reduction {
                Reduction::Sum => Int(0).of(computed),
                Reduction::Product => Int(1).of(computed),
                Reduction::Minimum => infinity,
                Reduction::Maximum => negative,
            };
        }
    };
    let number = match reduction {
        Reduction::Sum => 0,
        Reduction::Product => 1,
        Reduction::Minimum => most,
        Reduction::Maximum => least,
    };
    match u64::try_from(number) {
        Ok(number) => UnsignedLong(number).of(computed),
        Err(_) => Long(i64::try_from(number).unwrap()).of(computed),
    }
}

fn joined(reduction: Reduction, a: Number, b: Number) -> Number {
    match reduction {
        Reduction::Sum => binary(Binary::Add, a, b),
        Reduction::Product => binary(Binary::Multiply, a, b),
        Reduction::Minimum => call("min", &[a, b]),
        Reduction::Maximum => call("max", &[a, b]),
    }
}

/// The functions that the generator uses.
fn call(name: &str, arguments: &[Number]) -> Number {
    match (name, arguments) {
        ("min" | "fmin", [Float(a), Float(b)]) => Float(a.min(*b)),
        ("max" | "fmax", [Float(a), Float(b)]) => Float(a.max(*b)),
        ("min" | "fmin", [Double(a), Double(b)]) => Double(a.min(*b)),
        ("max" | "fmax", [Double(a), Double(b)]) => Double(a.max(*b)),
        ("min", [a, b]) => {
            if a.integer() <= b.integer() {
                *a
            } else {
                *b
            }
        }
        ("max", [a, b]) => {
            if a.integer() >= b.integer() {
                *a
            } else {
                *b
            }
        }
        ("fabs" | "abs", [Float(a)]) => Float(a.abs()),
        ("fabs" | "abs", [Double(a)]) => Double(a.abs()),
        ("abs", [Int(a)]) => Int(a.wrapping_abs()),
        ("abs", [Long(a)]) => Long(a.wrapping_abs()),
        ("abs", [a]) => *a,
        ("floor", [Float(a)]) => Float(a.floor()),
        ("floor", [Double(a)]) => Double(a.floor()),
        ("sqrt", [Float(a)]) => Float(a.sqrt()),
        ("sqrt", [Double(a)]) => Double(a.sqrt()),
        ("trunc", [Float(a)]) => Float(a.trunc()),
        ("trunc", [Double(a)]) => Double(a.trunc()),
        _ => panic!("the generator does not use {name}"),
    }
}

/// The value of each symbol, where sizes are given in the order of their first appearance and values by their tensors.
pub fn symbols(function: &Function, sizes: &[i64], values: &[Option<Data>]) -> Vec<i64> {
    let mut sizes = sizes.iter();
    let of = |kind: SymbolKind| match kind {
        SymbolKind::Size => *sizes.next().expect("each size has a value"),
        SymbolKind::Value(tensor) => {
            let data = values[tensor].as_ref().expect("each value is given");
            data.elements[0].integer() as i64
        }
        SymbolKind::Time => 0,
    };
    function
        .symbols
        .iter()
        .map(|symbol| symbol.kind)
        .map(of)
        .collect()
}
