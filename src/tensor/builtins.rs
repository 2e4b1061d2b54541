//! The functions that values can be made with: CUDA's mathematics.

use super::types::Scalar;

/// What a function takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// Arguments with a fraction, all of one type, which the result has, too; of integers `float` is made.
    Real,
    /// As [`Signature::Real`], and the result is a truth value.
    Predicate,
    /// Arguments of any one type, which the result has, too.
    Any,
    /// As [`Signature::Real`], but the last argument is an `int`.
    RealThenInteger,
    /// As [`Signature::Real`], but the first argument is an `int`.
    IntegerThenReal,
    /// As [`Signature::Real`], and the result is an `int`.
    ToInteger,
    /// As [`Signature::Real`], and the result is a 64-bit integer.
    ToLong,
}

/// A function.
#[derive(Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name in the language, that of CUDA's version for `double`.
    pub name: &'static str,
    /// How many arguments it takes.
    pub arguments: usize,
    /// Their types.
    pub signature: Signature,
}

const fn row(name: &'static str, arguments: usize, signature: Signature) -> Builtin {
    Builtin {
        name,
        arguments,
        signature,
    }
}

use Signature::{Any, IntegerThenReal, Predicate, Real, RealThenInteger, ToInteger, ToLong};

/// All of them.
pub static BUILTINS: &[Builtin] = &[
    row("abs", 1, Any),
    row("min", 2, Any),
    row("max", 2, Any),
    row("acos", 1, Real),
    row("acosh", 1, Real),
    row("asin", 1, Real),
    row("asinh", 1, Real),
    row("atan", 1, Real),
    row("atan2", 2, Real),
    row("atanh", 1, Real),
    row("cbrt", 1, Real),
    row("ceil", 1, Real),
    row("copysign", 2, Real),
    row("cos", 1, Real),
    row("cosh", 1, Real),
    row("cospi", 1, Real),
    row("cyl_bessel_i0", 1, Real),
    row("cyl_bessel_i1", 1, Real),
    row("erf", 1, Real),
    row("erfc", 1, Real),
    row("erfcinv", 1, Real),
    row("erfcx", 1, Real),
    row("erfinv", 1, Real),
    row("exp", 1, Real),
    row("exp10", 1, Real),
    row("exp2", 1, Real),
    row("expm1", 1, Real),
    row("fabs", 1, Real),
    row("fdim", 2, Real),
    row("floor", 1, Real),
    row("fma", 3, Real),
    row("fmax", 2, Real),
    row("fmin", 2, Real),
    row("fmod", 2, Real),
    row("hypot", 2, Real),
    row("ilogb", 1, ToInteger),
    row("isfinite", 1, Predicate),
    row("isinf", 1, Predicate),
    row("isnan", 1, Predicate),
    row("j0", 1, Real),
    row("j1", 1, Real),
    row("jn", 2, IntegerThenReal),
    row("ldexp", 2, RealThenInteger),
    row("lgamma", 1, Real),
    row("llrint", 1, ToLong),
    row("llround", 1, ToLong),
    row("log", 1, Real),
    row("log10", 1, Real),
    row("log1p", 1, Real),
    row("log2", 1, Real),
    row("logb", 1, Real),
    row("lrint", 1, ToLong),
    row("lround", 1, ToLong),
    row("nearbyint", 1, Real),
    row("nextafter", 2, Real),
    row("norm3d", 3, Real),
    row("norm4d", 4, Real),
    row("normcdf", 1, Real),
    row("normcdfinv", 1, Real),
    row("pow", 2, Real),
    row("rcbrt", 1, Real),
    row("remainder", 2, Real),
    row("rhypot", 2, Real),
    row("rint", 1, Real),
    row("rnorm3d", 3, Real),
    row("rnorm4d", 4, Real),
    row("round", 1, Real),
    row("rsqrt", 1, Real),
    row("scalbln", 2, RealThenInteger),
    row("scalbn", 2, RealThenInteger),
    row("signbit", 1, Predicate),
    row("sin", 1, Real),
    row("sinh", 1, Real),
    row("sinpi", 1, Real),
    row("sqrt", 1, Real),
    row("tan", 1, Real),
    row("tanh", 1, Real),
    row("tgamma", 1, Real),
    row("trunc", 1, Real),
    row("y0", 1, Real),
    row("y1", 1, Real),
    row("yn", 2, IntegerThenReal),
];

/// A function by its name; `expf` and the like are `exp`.
pub fn of_name(name: &str) -> Option<&'static Builtin> {
    let find = |name: &str| BUILTINS.iter().find(|row| row.name == name);
    let single = || find(name.strip_suffix('f')?).filter(|row| row.signature != Any);
    find(name).or_else(single)
}

impl Builtin {
    /// The function of CUDA C++ that computes it for arguments of a type.
    pub fn cuda(&self, computed: Scalar) -> String {
        let name = self.name;
        match (self.signature, computed) {
            (Any, Scalar::Float) => format!("f{name}f"),
            (Any, Scalar::Double) => format!("f{name}"),
            (Any, Scalar::Int64) if name == "abs" => "llabs".to_owned(),
            (Any | Predicate, _) => name.to_owned(),
            (_, Scalar::Float) => format!("{name}f"),
            _ => name.to_owned(),
        }
    }
}
