//! Tiles of matrices that a warp holds together: `llvm.nvvm.wmma.*` as plain loads, stores and one operation of the warp.
//!
//! Which lane holds which element is the hardware's secret, so that it can be chosen here: a tile is a list
//! of lines (rows of A and of the accumulator, columns of B), each lane holds a run of them, and where
//! fragments hold more elements than the tile has, several lanes hold the same. All fragments of one
//! shape and use have one arrangement, whatever their element, so that element n of one belongs to
//! element n of the other.
//!
//! Invariant: loads and stores are the lane's own and touch each element that it holds once, so that they are
//! counted, traced and checked like those of any thread. Products are exact, sums are rounded one after another
//! in ascending order of k: a GPU, which does not tell its order, may differ in the last bits.

use crate::codegen::CodegenError;
use crate::llvm::{Linkage, Value};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::fmt::Write;

/// The operation of the warp, named like a device function; the library turns it into the runtime's own.
pub(in crate::codegen::cpu) const MULTIPLY: &str = "__sirius_multiply_tiles";

/// Lanes of a warp.
const LANES: u32 = 32;

/// Replaces the intrinsics of a device module by functions that it has then. Those that are not known
/// stay, and are named when they are reached.
pub(in crate::codegen::cpu) fn expand(module: &Module) -> Result<(), CodegenError> {
    let intrinsics: Vec<(Value, String, String)> = Value::functions(module)
        .into_iter()
        .filter(|function| function.is_declaration() && function.has_uses())
        .filter_map(|function| {
            let name = function.name();
            let symbol = format!("sirius.tile.{}", name.strip_prefix("llvm.nvvm.wmma.")?);
            let definition = definition(&symbol, &name)?;
            Some((function, symbol, definition))
        })
        .collect();
    if intrinsics.is_empty() {
        return Ok(());
    }
    let mut text = format!(
        "declare i32 @llvm.nvvm.read.ptx.sreg.laneid()\n\
         declare void @{MULTIPLY}(ptr, ptr, ptr, ptr, i32, i32, i32)\n"
    );
    for (_, _, definition) in &intrinsics {
        text.push_str(definition);
    }
    text.push('\0');
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "tiles");
    let definitions = module
        .get_context()
        .create_module_from_ir(buffer)
        .map_err(|message| CodegenError::Llvm(message.to_string()))?;
    definitions.set_triple(&module.get_triple());
    definitions.set_data_layout(&module.get_data_layout());
    super::super::link(module, definitions)?;
    for (intrinsic, symbol, _) in intrinsics {
        let Some(function) = Value::function(module, &symbol) else {
            continue;
        };
        function.set_linkage(Linkage::LLVMInternalLinkage);
        if function.value_type() == intrinsic.value_type() {
            intrinsic.replace_uses_with(function);
        }
        if !function.has_uses() {
            function.delete_function();
        }
    }
    super::super::verify(module)
}

/// What the elements of a fragment are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    S8,
    U8,
    S32,
    S4,
    U4,
    /// 32 of them: a word is what is counted in.
    B1,
}

impl Element {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "s8" => Self::S8,
            "u8" => Self::U8,
            "s32" => Self::S32,
            "s4" => Self::S4,
            "u4" => Self::U4,
            "b1" => Self::B1,
            _ => return None,
        })
    }

    fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 | Self::F32 | Self::S32 | Self::B1 => 32,
            Self::F64 => 64,
            Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
        }
    }

    /// The register that holds some of them, as LLVM has it, and how many.
    fn register(self) -> (&'static str, u32) {
        match self {
            Self::F16 => ("<2 x half>", 2),
            Self::Bf16 => ("i32", 2),
            Self::Tf32 | Self::S32 | Self::B1 => ("i32", 1),
            Self::F32 => ("float", 1),
            Self::F64 => ("double", 1),
            Self::S8 | Self::U8 => ("i32", 4),
            Self::S4 | Self::U4 => ("i32", 8),
        }
    }

    /// In what it is multiplied and added up.
    fn computed_in(self) -> &'static str {
        match self {
            Self::F16 | Self::Bf16 | Self::Tf32 | Self::F32 => "float",
            Self::F64 => "double",
            _ => "i32",
        }
    }
}

/// A shape `m16n16k16`; in k, bits are counted by words.
#[derive(Clone, Copy)]
struct TileShape {
    m: u32,
    n: u32,
    k: u32,
}

impl TileShape {
    fn named(name: &str) -> Option<Self> {
        let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let (m, n, k) = (m.parse().ok()?, n.parse().ok()?, k.parse().ok()?);
        [m, n, k]
            .iter()
            .all(|extent: &u32| extent.is_power_of_two() && *extent <= 256)
            .then_some(Self { m, n, k })
    }

    /// The shape in elements that are counted.
    fn counted(self, element: Element) -> Self {
        let k = match element {
            Element::B1 => self.k / 32,
            _ => self.k,
        };
        Self { k, ..self }
    }
}

/// How a tile lies in the fragments of a warp.
#[derive(Clone, Copy)]
struct Fragment {
    element: Element,
    /// Elements of a line.
    line: u32,
    /// Elements of the tile.
    count: u32,
    /// Elements that a lane holds.
    held: u32,
}

impl Fragment {
    /// That of A, B, C or D (`a` … `d`).
    fn of(which: &str, element: Element, shape: TileShape) -> Option<Self> {
        let shape = shape.counted(element);
        let (line, count) = match which {
            "a" => (shape.k, shape.m * shape.k),
            "b" => (shape.k, shape.n * shape.k),
            _ => (shape.n, shape.m * shape.n),
        };
        // CUDA's fragments of A and B in half precision have 16 elements whatever the shape.
        let held = match (which, element) {
            ("a" | "b", Element::F16) => 16,
            _ => count / LANES,
        };
        let fits = held > 0 && held <= line && held % element.register().1 == 0;
        fits.then_some(Self {
            element,
            line,
            count,
            held,
        })
    }

    /// That of `mma.sync`, where each lane holds as many elements of the tile.
    fn spread(which: &str, element: Element, shape: TileShape) -> Option<Self> {
        let shape = shape.counted(element);
        let (line, count) = match which {
            "a" => (shape.k, shape.m * shape.k),
            "b" => (shape.k, shape.n * shape.k),
            _ => (shape.n, shape.m * shape.n),
        };
        let held = count / LANES;
        let fits = held > 0 && held.is_multiple_of(element.register().1);
        fits.then_some(Self {
            element,
            line,
            count,
            held,
        })
    }

    fn registers(self) -> u32 {
        self.held / self.element.register().1
    }

    /// The type of all registers; one alone is no structure.
    fn ty(self) -> String {
        let register = self.element.register().0;
        match self.registers() {
            1 => register.to_owned(),
            count => format!("{{ {} }}", vec![register; count as usize].join(", ")),
        }
    }

    /// Lanes that hold different parts.
    fn parts(self) -> u32 {
        self.count / self.held
    }
}

/// The function that stands for an intrinsic; `None`: it is not known.
fn definition(symbol: &str, name: &str) -> Option<String> {
    let mut words = name.strip_prefix("llvm.nvvm.wmma.")?.split('.');
    let shape = TileShape::named(words.next()?)?;
    let operation = words.next()?;
    let words: Vec<&str> = words.collect();
    match operation {
        "load" | "store" => {
            let (which, rest) = words.split_first()?;
            let (layout, rest) = rest.split_first()?;
            let (strided, rest) = match rest.split_first()? {
                (&"stride", rest) => (true, rest),
                _ => (false, rest),
            };
            let [element, space] = rest else { return None };
            let fragment = Fragment::of(which, Element::named(element)?, shape)?;
            let transfer = Transfer {
                which,
                fragment,
                by_rows: match *layout {
                    "row" => true,
                    "col" => false,
                    _ => return None,
                },
                strided,
                address_space: space.strip_prefix('p')?.parse().ok()?,
                shape,
            };
            transfer.definition(symbol, operation == "store")
        }
        "mma" => product(symbol, shape, &words),
        _ => None,
    }
}

/// A load or store of a fragment.
struct Transfer<'a> {
    which: &'a str,
    fragment: Fragment,
    by_rows: bool,
    strided: bool,
    address_space: u32,
    shape: TileShape,
}

impl Transfer<'_> {
    fn definition(&self, symbol: &str, stores: bool) -> Option<String> {
        let Fragment { element, held, .. } = self.fragment;
        let (register, packed) = element.register();
        let registers = self.fragment.registers();
        let pointer = match self.address_space {
            0 => "ptr".to_owned(),
            space => format!("ptr addrspace({space})"),
        };
        // Lines of B are columns.
        let along = self.by_rows != (self.which == "b");
        let (result, mut parameters) = match stores {
            true => {
                let list = (0..registers).map(|r| format!("{register} %r{r}"));
                let list: Vec<String> = list.collect();
                ("void".to_owned(), format!(", {}", list.join(", ")))
            }
            false => (self.fragment.ty(), String::new()),
        };
        if self.strided {
            parameters.push_str(", i32 %stride");
        }
        let mut body = format!(
            "define {result} @{symbol}({pointer} %p{parameters}) alwaysinline nounwind {{\n  \
             %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n  \
             %part = and i32 %lane, {}\n  %first = mul i32 %part, {held}\n  \
             %line32 = lshr i32 %first, {}\n  %within32 = and i32 %first, {}\n  \
             %line = zext i32 %line32 to i64\n  %within = zext i32 %within32 to i64\n",
            self.fragment.parts() - 1,
            self.fragment.line.trailing_zeros(),
            self.fragment.line - 1,
        );
        match self.strided {
            true => body.push_str("  %pitch = sext i32 %stride to i64\n"),
            false => {
                let _ = writeln!(body, "  %pitch = add i64 0, {}", self.natural_pitch());
            }
        }
        let bits = element.bits();
        // A word of bits is 32 elements to the stride.
        let scale = match element {
            Element::B1 => 1,
            _ => bits,
        };
        if along {
            // The elements of a lane lie side by side.
            let _ = writeln!(
                body,
                "  %row = mul i64 %line, %pitch\n  %row.bits = mul i64 %row, {scale}\n  \
                 %within.bits = mul i64 %within, {bits}\n  \
                 %bits = add i64 %row.bits, %within.bits\n  %bytes = ashr i64 %bits, 3\n  \
                 %at = getelementptr i8, {pointer} %p, i64 %bytes"
            );
            let register_bytes = bits * packed / 8;
            for r in 0..registers {
                let alignment = (bits / 8).max(1).min(register_bytes);
                let _ = writeln!(
                    body,
                    "  %at{r} = getelementptr i8, {pointer} %at, i64 {}",
                    r * register_bytes
                );
                let _ = match stores {
                    true => writeln!(
                        body,
                        "  store {register} %r{r}, {pointer} %at{r}, align {alignment}"
                    ),
                    false => writeln!(
                        body,
                        "  %r{r} = load {register}, {pointer} %at{r}, align {alignment}"
                    ),
                };
            }
        } else if bits < 8 || element == Element::B1 {
            return None;
        } else {
            self.scattered(&mut body, &pointer, stores);
        }
        body.push_str(&self.finish(stores));
        body.push_str("}\n");
        Some(body)
    }

    /// Elements of a line that lie a pitch apart.
    fn scattered(&self, body: &mut String, pointer: &str, stores: bool) {
        let Fragment { element, held, .. } = self.fragment;
        let (register, packed) = element.register();
        let bits = element.bits();
        let small = match (packed, register) {
            (1, register) => register.to_owned(),
            (_, "i32") => format!("i{bits}"),
            _ => "half".to_owned(),
        };
        for e in 0..held {
            let (r, inside) = (e / packed, e % packed);
            let _ = writeln!(
                body,
                "  %w{e} = add i64 %within, {e}\n  %o{e} = mul i64 %w{e}, %pitch\n  \
                 %i{e} = add i64 %o{e}, %line\n  \
                 %at{e} = getelementptr {small}, {pointer} %p, i64 %i{e}"
            );
            let alignment = bits / 8;
            match (stores, packed, register) {
                (true, 1, _) => {
                    let _ = writeln!(
                        body,
                        "  store {register} %r{r}, {pointer} %at{e}, align {alignment}"
                    );
                }
                (true, _, _) => {
                    let _ = writeln!(
                        body,
                        "  %v{e} = extractelement {register} %r{r}, i32 {inside}\n  \
                         store {small} %v{e}, {pointer} %at{e}, align {alignment}"
                    );
                }
                (false, 1, _) => {
                    let _ = writeln!(
                        body,
                        "  %r{r} = load {register}, {pointer} %at{e}, align {alignment}"
                    );
                }
                (false, _, _) => {
                    let vector = format!("<{packed} x {small}>");
                    let before = match inside {
                        0 => "poison".to_owned(),
                        _ => format!("%u{}", e - 1),
                    };
                    let _ = writeln!(
                        body,
                        "  %v{e} = load {small}, {pointer} %at{e}, align {alignment}\n  \
                         %u{e} = insertelement {vector} {before}, {small} %v{e}, i32 {inside}"
                    );
                    if inside + 1 == packed {
                        let _ = writeln!(body, "  %r{r} = bitcast {vector} %u{e} to {register}");
                    }
                }
            }
        }
    }

    fn finish(&self, stores: bool) -> String {
        match stores {
            true => "  ret void\n".to_owned(),
            false => give_back(self.fragment),
        }
    }

    /// The distance of rows, or columns, without a stride.
    fn natural_pitch(&self) -> u32 {
        let TileShape { m, n, k } = self.shape;
        let (rows, columns) = match self.which {
            "a" => (m, k),
            "b" => (k, n),
            _ => (m, n),
        };
        match self.by_rows {
            true => columns,
            false => rows,
        }
    }
}

/// Returns the registers `%r0`, `%r1`, …
fn give_back(fragment: Fragment) -> String {
    let (ty, register) = (fragment.ty(), fragment.element.register().0);
    if fragment.registers() == 1 {
        return format!("  ret {register} %r0\n");
    }
    let mut text = String::new();
    let mut before = "poison".to_owned();
    for r in 0..fragment.registers() {
        let _ = writeln!(
            text,
            "  %s{r} = insertvalue {ty} {before}, {register} %r{r}, {r}"
        );
        before = format!("%s{r}");
    }
    let _ = writeln!(text, "  ret {ty} {before}");
    text
}

/// `mma`: the warp's product. Words are layouts, which fragments have forgotten, and element types.
fn product(symbol: &str, shape: TileShape, words: &[&str]) -> Option<String> {
    let has = |word: &str| words.contains(&word);
    let named: Vec<Element> = words
        .iter()
        .filter_map(|word| Element::named(word))
        .collect();
    let known = |word: &&str| {
        Element::named(word).is_some()
            || matches!(
                *word,
                "row" | "col" | "satfinite" | "rn" | "xor" | "and" | "popc"
            )
    };
    if !words.iter().all(known) {
        return None;
    }
    let (input, c, d) = match named.as_slice() {
        [
            d @ (Element::F16 | Element::F32),
            c @ (Element::F16 | Element::F32),
        ] => (Element::F16, *c, *d),
        [input @ (Element::Bf16 | Element::Tf32)] => (*input, Element::F32, Element::F32),
        [Element::F64] => (Element::F64, Element::F64, Element::F64),
        [input] => (*input, Element::S32, Element::S32),
        _ => return None,
    };
    let form = Form {
        arithmetic: match (input, has("satfinite"), has("and")) {
            (Element::F64, ..) => Arithmetic::Double,
            (Element::B1, _, false) => Arithmetic::BitsDiffer,
            (Element::B1, _, true) => Arithmetic::BitsBoth,
            (_, saturates, _) if input.computed_in() == "i32" => match saturates {
                true => Arithmetic::SaturatingInteger,
                false => Arithmetic::Integer,
            },
            _ => Arithmetic::Float,
        },
        packed: 0,
    };
    let fragments = [
        Fragment::of("a", input, shape)?,
        Fragment::of("b", input, shape)?,
        Fragment::of("c", c, shape)?,
        Fragment::of("d", d, shape)?,
    ];
    let shape = shape.counted(input);
    Some(product_of(
        symbol,
        fragments,
        [shape.m, shape.n, shape.k],
        form,
    ))
}

/// The function `symbol` that stands for `mma.sync.aligned.SHAPE.row.col….D.A.B.C` of inline PTX: of the context and the
/// registers of A, B and C, it returns those of D. PTX tells how these tiles lie in fragments.
pub(in crate::codegen::cpu) fn mma_definition(symbol: &str, opcode: &str) -> Option<String> {
    let words: Vec<&str> = opcode
        .strip_prefix("mma.sync.aligned.")?
        .split('.')
        .collect();
    let (shape, words) = words.split_first()?;
    let shape = TileShape::named(shape)?;
    let (satfinite, words) = match words.strip_prefix(&["row", "col"])? {
        ["satfinite", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let [d, a, b, c, bits @ ..] = words else {
        return None;
    };
    let (d, a, b, c) = (
        Element::named(d)?,
        Element::named(a)?,
        Element::named(b)?,
        Element::named(c)?,
    );
    let whole =
        |input: Element| matches!(input, Element::S8 | Element::U8 | Element::S4 | Element::U4);
    let arithmetic = match (a, b, bits) {
        (Element::F16, Element::F16, []) if shape.m == 16 => Arithmetic::Float,
        (Element::Bf16, Element::Bf16, []) | (Element::Tf32, Element::Tf32, []) => {
            Arithmetic::Float
        }
        (Element::F64, Element::F64, []) => Arithmetic::Double,
        (a, b, []) if whole(a) && whole(b) && a.bits() == b.bits() => match satfinite {
            true => Arithmetic::SaturatingInteger,
            false => Arithmetic::Integer,
        },
        (Element::B1, Element::B1, ["xor", "popc"]) => Arithmetic::BitsDiffer,
        (Element::B1, Element::B1, ["and", "popc"]) => Arithmetic::BitsBoth,
        _ => return None,
    };
    if [c, d]
        .iter()
        .any(|sum| sum.computed_in() != a.computed_in())
        || shape.n != 8
    {
        return None;
    }
    let fragments = [
        Fragment::spread("a", a, shape)?,
        Fragment::spread("b", b, shape)?,
        Fragment::spread("c", c, shape)?,
        Fragment::spread("d", d, shape)?,
    ];
    let shape = shape.counted(a);
    let form = Form {
        arithmetic,
        packed: a.register().1,
    };
    let extents = [shape.m, shape.n, shape.k];
    let body = product_of(symbol, fragments, extents, form);
    // As what is lowered already.
    let call = format!("call void @{MULTIPLY}(");
    let body = body.replacen(
        &format!("@{symbol}("),
        &format!("@{symbol}(ptr %context, "),
        1,
    );
    Some(body.replace(&call, &format!("{call}ptr %context, ")))
}

/// In what the runtime computes, by the numbers that it knows.
#[derive(Clone, Copy)]
enum Arithmetic {
    Float = 0,
    Double = 1,
    Integer = 2,
    SaturatingInteger = 3,
    BitsDiffer = 4,
    BitsBoth = 5,
}

/// How the runtime multiplies.
#[derive(Clone, Copy)]
struct Form {
    arithmetic: Arithmetic,
    /// Elements of a register where the arrangement is that of `mma.sync`; 0 for the one of this module.
    packed: u32,
}

/// A function of the registers of A, B and C that returns those of D. It is not inlined: kernels that multiply many tiles
/// would become blocks of tens of thousands of instructions, for which LLVM's passes take minutes.
fn product_of(symbol: &str, fragments: [Fragment; 4], shape: [u32; 3], form: Form) -> String {
    let [a, b, c, d] = fragments;
    let mut parameters = Vec::new();
    for (name, fragment) in ["a", "b", "c"].iter().zip([a, b, c]) {
        let register = fragment.element.register().0;
        parameters.extend((0..fragment.registers()).map(|r| format!("{register} %{name}{r}")));
    }
    let mut body = format!(
        "define {} @{symbol}({}) noinline nounwind convergent {{\n",
        d.ty(),
        parameters.join(", ")
    );
    for (name, fragment) in ["a", "b", "c", "d"].iter().zip(fragments) {
        let ty = fragment.element.computed_in();
        let _ = writeln!(
            body,
            "  %{name} = alloca [{} x {ty}], align 8",
            fragment.held
        );
    }
    for (name, fragment) in ["a", "b", "c"].iter().zip([a, b, c]) {
        widen(&mut body, name, fragment);
    }
    let [m, n, k] = shape;
    let _ = writeln!(
        body,
        "  call void @{MULTIPLY}(ptr %a, ptr %b, ptr %c, ptr %d, i32 {}, i32 {}, i32 {})",
        m | n << 8 | k << 16,
        form.arithmetic as u32 | form.packed << 8,
        a.held | b.held << 8 | c.held << 16,
    );
    let computed = d.element.computed_in();
    let (register, packed) = d.element.register();
    for e in 0..d.held {
        let _ = writeln!(
            body,
            "  %d.at{e} = getelementptr {computed}, ptr %d, i32 {e}\n  \
             %d.v{e} = load {computed}, ptr %d.at{e}"
        );
    }
    for r in 0..d.registers() {
        if packed == 1 {
            let _ = writeln!(body, "  %r{r} = bitcast {computed} %d.v{r} to {register}");
            continue;
        }
        let (low, high) = (2 * r, 2 * r + 1);
        let _ = writeln!(
            body,
            "  %d.h{low} = fptrunc float %d.v{low} to half\n  \
             %d.h{high} = fptrunc float %d.v{high} to half\n  \
             %d.u{r} = insertelement <2 x half> poison, half %d.h{low}, i32 0\n  \
             %r{r} = insertelement <2 x half> %d.u{r}, half %d.h{high}, i32 1"
        );
    }
    body.push_str(&give_back(d));
    body.push_str("}\n");
    body
}

/// Stores the elements of a fragment, in what they are computed in, to its place.
fn widen(body: &mut String, name: &str, fragment: Fragment) {
    let element = fragment.element;
    let (register, packed) = element.register();
    let (computed, bits) = (element.computed_in(), element.bits());
    for e in 0..fragment.held {
        let (from, inside) = (format!("%{name}{}", e / packed), e % packed);
        let value = format!("%{name}.v{e}");
        let _ = match element {
            Element::F16 => writeln!(
                body,
                "  %{name}.h{e} = extractelement <2 x half> {from}, i32 {inside}\n  \
                 {value} = fpext half %{name}.h{e} to float"
            ),
            Element::Bf16 => writeln!(
                body,
                "  %{name}.s{e} = lshr i32 {from}, {}\n  %{name}.l{e} = shl i32 %{name}.s{e}, 16\n  \
                 {value} = bitcast i32 %{name}.l{e} to float",
                inside * 16
            ),
            // The hardware reads no lower bits.
            Element::Tf32 => writeln!(
                body,
                "  %{name}.l{e} = and i32 {from}, -8192\n  \
                 {value} = bitcast i32 %{name}.l{e} to float"
            ),
            Element::S8 | Element::U8 | Element::S4 | Element::U4 => {
                let extend = match element {
                    Element::S8 | Element::S4 => "sext",
                    _ => "zext",
                };
                writeln!(
                    body,
                    "  %{name}.s{e} = lshr i32 {from}, {}\n  \
                     %{name}.l{e} = trunc i32 %{name}.s{e} to i{bits}\n  \
                     {value} = {extend} i{bits} %{name}.l{e} to i32",
                    inside * bits
                )
            }
            _ => writeln!(body, "  {value} = bitcast {register} {from} to {computed}"),
        };
        let _ = writeln!(
            body,
            "  %{name}.at{e} = getelementptr {computed}, ptr %{name}, i32 {e}\n  \
             store {computed} {value}, ptr %{name}.at{e}"
        );
    }
}
