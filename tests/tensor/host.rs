//! A host program that calls definitions with made-up inputs and prints all outputs, and the same inputs for the interpreter.

use super::interpreter::{Data, Number};
use sirius_rs::tensor::linear::{Atom, Linear};
use sirius_rs::tensor::program::{Function, Role, SymbolKind};
use sirius_rs::tensor::types::Scalar;
use std::fmt::Write;

/// A call of a definition.
pub struct Case {
    /// What is called.
    pub function: Function,
    /// The values of its sizes in the order of their first appearance.
    pub sizes: Vec<i64>,
}

impl Case {
    /// The value of a number of sizes.
    pub fn form(&self, form: &Linear) -> i64 {
        let sizes: Vec<usize> = (self.function.symbols.iter().enumerate())
            .filter(|(_, symbol)| symbol.kind == SymbolKind::Size)
            .map(|(number, _)| number)
            .collect();
        let value = form.value(&|atom| match atom {
            Atom::Symbol(symbol) => {
                let place = sizes.iter().position(|size| size == symbol);
                self.sizes[place.expect("the generator makes no values")]
            }
            _ => unreachable!("a size has no index"),
        });
        value.expect("sizes are small")
    }

    /// Whether the launcher takes these sizes.
    pub fn is_accepted(&self) -> bool {
        let extents = self
            .function
            .tensors
            .iter()
            .flat_map(|tensor| &tensor.extents);
        let mut extents = extents.map(|extent| self.form(extent));
        let holds = self.function.checks.iter().all(|check| {
            let needed = check.when_positive.iter().all(|count| self.form(count) > 0);
            let (left, right) = (self.form(&check.left), self.form(&check.right));
            !needed
                || if check.equal {
                    left == right
                } else {
                    left <= right
                }
        });
        extents.all(|extent| extent >= 0) && holds
    }

    /// The contents of inputs.
    pub fn inputs(&self) -> Vec<Option<Data>> {
        let tensors = self.function.tensors.iter().enumerate();
        let data = tensors.map(|(number, tensor)| {
            if !matches!(tensor.role, Role::Input | Role::Changed) {
                return None;
            }
            let extents: Vec<i64> = tensor
                .extents
                .iter()
                .map(|extent| self.form(extent))
                .collect();
            let count: i64 = extents.iter().product();
            let elements = (0..count).map(|place| element(number, place, tensor.scalar));
            Some(Data {
                elements: elements.collect(),
                extents,
            })
        });
        data.collect()
    }
}

/// What stands at a place of an input; the host program computes the same.
fn element(tensor: usize, place: i64, scalar: Scalar) -> Number {
    let number = (place * 7 + tensor as i64 * 3 + place / 3) % 6 - 1;
    match scalar {
        Scalar::Half | Scalar::Bfloat16 | Scalar::Float => Number::Float(number as f32 * 0.5),
        Scalar::Double => Number::Double(number as f64 * 0.5),
        _ => Number::Int(number as i32),
    }
}

/// What some mappings make of a case.
pub struct Call {
    /// Its text.
    pub made: String,
    /// The namespace that it is in.
    pub namespace: String,
    /// The mappings' names.
    pub mappings: Vec<&'static str>,
}

/// The host side of a program: it calls all cases by the mapping that its argument names. For each case there are calls.
pub fn program(cases: &[Case], calls: &[Vec<Call>]) -> String {
    let mut text = String::from(
        "#include <cstring>\nstatic const char *mapping;\n\
         static double number(double value)\n{\n    return value;\n}\n\
         static double number(__half value)\n{\n    return __half2float(value);\n}\n\
         static double number(__nv_bfloat16 value)\n{\n    return __bfloat162float(value);\n}\n\
         template <typename T> static T *input(int tensor, long long count, double factor)\n{\n    \
         T *const values = (T *)std::malloc(count * sizeof(T) + 1);\n    for (long long place = 0; place < count; ++place)\n        \
         values[place] = (T)(float)(((place * 7 + tensor * 3 + place / 3) % 6 - 1) * factor);\n    T *made = nullptr;\n    \
         cudaMalloc((void **)&made, count * sizeof(T) + 8);\n    \
         cudaMemcpy(made, values, count * sizeof(T), cudaMemcpyHostToDevice);\n    std::free(values);\n    return made;\n}\n\
         template <typename T> static void show(const T *made, long long count)\n{\n    T *const values = (T *)std::malloc(count * sizeof(T) + 1);\n    \
         cudaMemcpy(values, made, count * sizeof(T), cudaMemcpyDeviceToHost);\n    \
         for (long long place = 0; place < count; ++place)\n        printf(\"%.17g \", number(values[place]));\n    \
         printf(\"\\n\");\n    std::free(values);\n}\n",
    );
    text += "static bool is(const char *name)\n{\n    return !std::strcmp(mapping, name);\n}\n";
    let mut called = String::new();
    for (case, calls) in cases.iter().zip(calls) {
        let function = &case.function;
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "static void case_{}()\n{{", function.name);
        let mut arguments: Vec<String> = vec!["0".to_owned()];
        arguments.extend(case.sizes.iter().map(i64::to_string));
        let count = |tensor: usize| -> i64 {
            let extents = function.tensors[tensor].extents.iter();
            extents.map(|extent| case.form(extent)).product()
        };
        for (number, tensor) in function.tensors.iter().enumerate() {
            let cuda = tensor.scalar.cuda();
            let factor = if tensor.scalar.is_floating() {
                "0.5"
            } else {
                "1"
            };
            if matches!(tensor.role, Role::Input | Role::Changed) {
                let count = count(number);
                let _ = writeln!(
                    text,
                    "    {cuda} *{} = input<{cuda}>({number}, {count}, {factor});",
                    tensor.name
                );
                arguments.push(tensor.name.clone());
            }
        }
        for number in &function.returns {
            let tensor = &function.tensors[*number];
            if tensor.role == Role::Output {
                let cuda = tensor.scalar.cuda();
                let count = count(*number);
                let _ = writeln!(
                    text,
                    "    {cuda} *{} = input<{cuda}>(0, {count}, 0);",
                    tensor.name
                );
                arguments.push(tensor.name.clone());
            }
        }
        for call in calls {
            let names = call.mappings.iter();
            let named: Vec<String> = names.map(|name| format!("is(\"{name}\")")).collect();
            let _ = writeln!(
                text,
                "    if ({})\n        {}::{}({});",
                named.join(" || "),
                call.namespace,
                function.name,
                arguments.join(", ")
            );
        }
        let _ = writeln!(text, "    printf(\"{}: \");", function.name);
        for number in &function.returns {
            let tensor = &function.tensors[*number];
            let _ = writeln!(text, "    show({}, {});", tensor.name, count(*number));
        }
        text += "}\n";
        let _ = writeln!(called, "    case_{}();", function.name);
    }
    let _ = write!(
        text,
        "int main(int, char **arguments)\n{{\n    mapping = arguments[1];\n{called}    return cudaDeviceSynchronize();\n}}\n"
    );
    text
}
