//! What a caller passes to each definition, as JSON: for callers that are no CUDA source.
//!
//! Invariant: where the sizes of a call are not negative, each extent is not, and each check holds, the launcher
//! launches; else it would end the program.

use super::fault::place;
use super::linear::{Atom, Linear};
use super::program::{Function, Role, SymbolKind, Tensor};
use serde::Serialize;
use std::path::Path;

/// The signatures of a file's definitions, in their order.
///
/// `name` and `text` are those of the file, of which messages speak; `key` is what options for a definition are known by.
pub fn signatures(
    functions: &[Function],
    (name, text): (&Path, &str),
    key: &dyn Fn(&Function) -> String,
) -> String {
    let place = |byte: usize| format!("{}:{}", name.display(), place(text, byte).0);
    let each = functions
        .iter()
        .map(|function| signature(function, &place, key(function)));
    let file = File {
        version: 1,
        functions: each.collect(),
    };
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

#[derive(Serialize)]
struct File<'a> {
    version: u32,
    functions: Vec<Signature<'a>>,
}

/// One launcher: it takes the stream, the sizes, then the parameters.
#[derive(Serialize)]
struct Signature<'a> {
    name: &'a str,
    key: String,
    sizes: Vec<&'a str>,
    parameters: Vec<Parameter<'a>>,
    /// Names of parameters.
    returns: Vec<&'a str>,
    checks: Vec<Check<'a>>,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    /// As in definitions: `float`, `int64`.
    scalar: String,
    role: &'static str,
    extents: Vec<Form<'a>>,
}

/// What has to hold: both sides are equal, or the left one is at most the right one; only where all of `when_positive`
/// are positive.
#[derive(Serialize)]
struct Check<'a> {
    message: String,
    equal: bool,
    left: Form<'a>,
    right: Form<'a>,
    when_positive: Vec<Form<'a>>,
}

/// The constant, and terms: each a factor and what it is the factor of.
#[derive(Serialize)]
struct Form<'a> {
    constant: i64,
    terms: Vec<(i64, Term<'a>)>,
}

/// A name, or what is worked out.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Term<'a> {
    Name(&'a str),
    /// A quotient, rounded down.
    Floor(Box<Form<'a>>, i64),
    Minimum(Vec<Form<'a>>),
    Maximum(Vec<Form<'a>>),
    Product(Box<[Form<'a>; 2]>),
}

fn signature<'a>(
    function: &'a Function,
    place: &dyn Fn(usize) -> String,
    key: String,
) -> Signature<'a> {
    let sizes = function.symbols.iter();
    let sizes = sizes.filter(|symbol| symbol.kind == SymbolKind::Size);
    let parameter = |number: usize| {
        let tensor = &function.tensors[number];
        Parameter {
            name: &tensor.name,
            scalar: tensor.scalar.to_string(),
            role: role(tensor),
            extents: forms(function, &tensor.extents),
        }
    };
    let check = |check: &'a super::program::Check| Check {
        message: format!("{}: {}", place(check.span.start), check.message),
        equal: check.equal,
        left: form(function, &check.left),
        right: form(function, &check.right),
        when_positive: forms(function, &check.when_positive),
    };
    Signature {
        name: &function.name,
        key,
        sizes: sizes.map(|symbol| symbol.name.as_str()).collect(),
        parameters: super::emit::interface(function).map(parameter).collect(),
        returns: (function.returns.iter())
            .map(|number| function.tensors[*number].name.as_str())
            .collect(),
        checks: function.checks.iter().map(check).collect(),
    }
}

fn role(tensor: &Tensor) -> &'static str {
    match tensor.role {
        Role::Input => "input",
        Role::Value => "value",
        Role::Changed => "changed",
        Role::Output => "output",
        Role::Temporary => "temporary",
    }
}

fn forms<'a>(function: &'a Function, forms: &'a [Linear]) -> Vec<Form<'a>> {
    forms.iter().map(|each| form(function, each)).collect()
}

fn form<'a>(function: &'a Function, linear: &'a Linear) -> Form<'a> {
    let terms = linear.terms.iter();
    Form {
        constant: linear.constant,
        terms: terms
            .map(|(atom, factor)| (*factor, term(function, atom)))
            .collect(),
    }
}

fn term<'a>(function: &'a Function, atom: &'a Atom) -> Term<'a> {
    match atom {
        Atom::Symbol(symbol) => Term::Name(&function.symbols[*symbol].name),
        // Extents and checks speak of no index.
        Atom::Variable(_) => unreachable!("an index in a form of the host"),
        Atom::Floor(of, by) => Term::Floor(Box::new(form(function, of)), *by),
        Atom::Minimum(all) => Term::Minimum(forms(function, all)),
        Atom::Maximum(all) => Term::Maximum(forms(function, all)),
        Atom::Product(a, b) => Term::Product(Box::new([form(function, a), form(function, b)])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature_of(text: &str) -> serde_json::Value {
        let functions = crate::tensor::check(text).unwrap();
        let file = (Path::new("net.tc"), text);
        let text = signatures(&functions, file, &|function| function.name.to_uppercase());
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_caller_learns_sizes_extents_and_checks() {
        let all = signature_of(
            "def f(float(N) I, float(K) W, int d) -> (O) {\n  O(h) +=! I(h + k) * W(k)\n}\n",
        );
        let f = &all["functions"][0];
        assert_eq!(f["sizes"], serde_json::json!(["N", "K"]));
        assert_eq!(f["key"], "F");
        let names = f["parameters"].as_array().unwrap().iter();
        let names: Vec<_> = names.map(|each| (&each["name"], &each["role"])).collect();
        assert_eq!(names[2], (&"d".into(), &"value".into()));
        assert_eq!(names[3], (&"O".into(), &"output".into()));
        let extent =
            serde_json::json!({"constant": 1, "terms": [[1, {"name": "N"}], [-1, {"name": "K"}]]});
        assert_eq!(f["parameters"][3]["extents"], serde_json::json!([extent]));
        assert_eq!(f["returns"], serde_json::json!(["O"]));
    }

    #[test]
    fn checks_have_their_place() {
        let all = signature_of(
            "def f(float(N) A, float(M) B) -> (C) {\n  C(i) = A(i) + B(i) where i in 0:N\n}\n",
        );
        let check = &all["functions"][0]["checks"][0];
        assert!(
            check["message"].as_str().unwrap().starts_with("net.tc:2: "),
            "{check}"
        );
    }
}
