//! Templates to kernels. Whatever a template says is checked: it may be given by hand.

use super::consistency::Consistency;
use super::statements::{Named, Piece, are_independent, pieces};
use super::template::{Composition, Item, KernelTemplate, Schedule, Template, ValueTemplate};
use crate::tensor::Options;
use crate::tensor::fault::{Fault, Span};
use crate::tensor::mapping::{Kernel, Plan, Step};
use crate::tensor::program::Function;
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::rows::{RowPlace, Rows, Team, Wish, holder, place, planned, ranges};
use crate::tensor::transform::tiles::{Shape, tiles};

/// The kernels of a definition as a template says, which has no value that is computed again.
///
/// # Errors
/// What is wrong with the template, at its place.
pub(super) fn build<'f>(
    function: &'f Function,
    template: &Template,
    options: Options,
) -> Result<Vec<Step<'f>>, Fault> {
    let builder = Builder {
        function,
        options,
        consistency: &Consistency::new(function, options),
    };
    builder.steps(&template.items, &pieces(function), template.name.span)
}

/// Makes kernels of parts of templates.
pub(super) struct Builder<'b, 'f> {
    pub function: &'f Function,
    pub options: Options,
    pub consistency: &'b Consistency<'f>,
}

impl<'f> Builder<'_, 'f> {
    fn steps(
        &self,
        items: &[Item],
        pieces: &[Piece<'f>],
        span: Span,
    ) -> Result<Vec<Step<'f>>, Fault> {
        let mut steps = Vec::new();
        let mut rest = items;
        for piece in pieces {
            match piece {
                Piece::Statements(all) => {
                    let is_loop = |item: &Item| matches!(item, Item::Loop(..));
                    let count = rest.iter().position(is_loop).unwrap_or(rest.len());
                    steps.extend(self.statements(&rest[..count], all, span)?);
                    rest = &rest[count..];
                }
                Piece::Loop(time_loop, inner) => {
                    let name = &self.function.symbols[time_loop.symbol].name;
                    let Some((Item::Loop(index, body), behind)) = rest.split_first() else {
                        return Err(match rest.first() {
                            Some(item) => not_there(item),
                            None => Fault::new(
                                span,
                                format!("the template lacks 'for {name} {{ … }}' with its kernels"),
                            ),
                        });
                    };
                    if index.text != *name {
                        return Err(Fault::new(
                            index.span,
                            format!("the time loop that comes here is that of '{name}'"),
                        ));
                    }
                    steps.push(Step::Loop {
                        symbol: time_loop.symbol,
                        low: &time_loop.low,
                        high: &time_loop.high,
                        body: self.steps(body, inner, index.span)?,
                    });
                    rest = behind;
                }
            }
        }
        match rest.first() {
            Some(item) => Err(not_there(item)),
            None => Ok(steps),
        }
    }

    /// The kernels of statements between time loops.
    fn statements(
        &self,
        items: &[Item],
        all: &[Named<'f>],
        span: Span,
    ) -> Result<Vec<Step<'f>>, Fault> {
        let mut order: Vec<Named<'f>> = Vec::new();
        let mut steps = Vec::new();
        for item in items {
            let kernels = match item {
                Item::Kernel(kernel) => std::slice::from_ref(kernel),
                Item::Packing(kernels) => kernels.as_slice(),
                Item::Loop(..) => continue,
            };
            let mut made = Vec::new();
            for kernel in kernels {
                let own = self.found(kernel, all, &mut order)?;
                made.extend(self.kernel(kernel, &own)?);
            }
            match item {
                Item::Packing(kernels) => {
                    steps.push(Step::Kernel(self.packed(kernels, made)?));
                }
                _ => steps.extend(made.into_iter().map(Step::Kernel)),
            }
        }
        let is_there = |named: &&Named<'f>| {
            order
                .iter()
                .any(|known| std::ptr::eq(known.statement, named.statement))
        };
        if let Some(named) = all.iter().find(|named| !is_there(named)) {
            let name = named.name(self.function);
            return Err(Fault::new(span, format!("the template lacks '{name}'"))
                .mend(format!("write '{name}: thread' in one of its kernels")));
        }
        Ok(steps)
    }

    /// The statements of a kernel, which `order` then has, too.
    fn found(
        &self,
        kernel: &KernelTemplate,
        all: &[Named<'f>],
        order: &mut Vec<Named<'f>>,
    ) -> Result<Vec<Named<'f>>, Fault> {
        let mut own = Vec::new();
        for value in &kernel.values {
            let span = value.tensor.span;
            let found = all.iter().position(|named| named.is(self.function, value));
            let Some(at) = found else {
                return Err(self.unknown(value, all));
            };
            let named = all[at];
            let name = named.name(self.function);
            let position = |one: &Named<'f>| {
                let is_it = |named: &Named<'f>| std::ptr::eq(named.statement, one.statement);
                all.iter().position(is_it)
            };
            for before in order.iter() {
                if std::ptr::eq(before.statement, named.statement) {
                    let message = format!("'{name}' is in the template already");
                    return Err(Fault::new(span, message));
                }
                if position(before) > Some(at)
                    && !are_independent(before.statement, named.statement)
                {
                    let other = before.name(self.function);
                    return Err(Fault::new(
                        span,
                        format!(
                            "'{name}' has to come before '{other}', as it does in the definition"
                        ),
                    ));
                }
            }
            order.push(named);
            own.push(named);
        }
        Ok(own)
    }

    /// That a template speaks of a statement that does not stand here.
    fn unknown(&self, value: &ValueTemplate, all: &[Named<'f>]) -> Fault {
        let (name, number) = (&value.tensor.text, value.number);
        let of_tensor = all
            .iter()
            .filter(|named| self.function.tensors[named.statement.target].name == *name);
        let message = match (of_tensor.count(), number) {
            (0, _) => format!("no statement that stands here defines '{name}'"),
            (_, 1) => format!("the first statement that defines '{name}' does not stand here"),
            (_, _) => format!("there is no statement '{name}@{number}' here"),
        };
        let names: Vec<String> = all
            .iter()
            .map(|named| format!("'{}'", named.name(self.function)))
            .collect();
        Fault::new(value.tensor.span, message).mend(format!("there are {}", names.join(", ")))
    }

    /// The kernels that a template of one makes: several only of a scatter.
    pub fn kernel(
        &self,
        template: &KernelTemplate,
        all: &[Named<'f>],
    ) -> Result<Vec<Kernel<'f>>, Fault> {
        let wrong = |message: String| Fault::new(template.span, message);
        let Some((team, _)) = template.schedule.team() else {
            let mut kernels = self.consistency.elements(all).map_err(wrong)?;
            if template.schedule == Schedule::Tiles {
                let [kernel] = kernels.as_mut_slice() else {
                    return Err(wrong("a scatter is not tiled".to_owned()));
                };
                let tile = self.options.tile;
                let plan = tiles(self.function, kernel, Shape::Plane, tile);
                let plan = plan.or_else(|| tiles(self.function, kernel, Shape::Any, tile));
                kernel.plan = Plan::Tiles(plan.ok_or_else(|| {
                    let name = all[all.len() - 1].name(self.function);
                    wrong(format!(
                        "'{name}' has no tiles: its points share nothing that they read"
                    ))
                })?);
            }
            self.only_threads(template)?;
            return Ok(kernels);
        };
        if let Schedule::Row {
            dimensions: 0,
            lanes: Some((_, rows)),
        } = template.schedule
            && rows > 1
        {
            // The other teams of the block would compute the same row.
            return Err(wrong(format!(
                "'row 0' is one row for the whole launch, and a block has {rows}: 'threads 32 rows 1' has one"
            )));
        }
        let kernel = self
            .consistency
            .rows(all, template.schedule)
            .map_err(wrong)?;
        let kernel = planned(self.function, kernel, team, &|tensor| {
            self.wish(template, tensor)
        });
        self.compositions(template, all, &kernel)?;
        Ok(vec![kernel])
    }

    /// In kernels of elements, each thread has what it makes, and nothing else.
    fn only_threads(&self, template: &KernelTemplate) -> Result<(), Fault> {
        if let Some(input) = template.inputs.first() {
            let message = format!(
                "threads of a kernel of {} keep no inputs",
                template.schedule
            );
            return Err(Fault::new(input.tensor.span, message));
        }
        let mut others = template.values.iter();
        match others.find(|value| value.composition != Composition::Thread) {
            Some(value) => Err(Fault::new(
                value.tensor.span,
                format!(
                    "'{}' stays in its thread, as all of a kernel of {}: '{}' is for rows and columns",
                    value.tensor.text,
                    template.schedule,
                    value.composition.name()
                ),
            )),
            None => Ok(()),
        }
    }

    /// Where the row of a tensor is to lie.
    fn wish(&self, template: &KernelTemplate, tensor: usize) -> Wish {
        let name = &self.function.tensors[tensor].name;
        let mut all = template.inputs.iter().chain(&template.values);
        let found = all.find(|value| value.tensor.text == *name);
        match found.map(|value| value.composition) {
            Some(Composition::Thread) => Wish::Registers,
            Some(Composition::Block) => Wish::Shared,
            _ => Wish::Memory,
        }
    }

    /// Whether a planned kernel does what its template says.
    fn compositions(
        &self,
        template: &KernelTemplate,
        all: &[Named<'f>],
        kernel: &Kernel<'f>,
    ) -> Result<(), Fault> {
        let Plan::Rows(rows) = &kernel.plan else {
            return Ok(());
        };
        for (number, value) in template.values.iter().enumerate() {
            let found = composition((kernel, rows), number);
            if found != value.composition {
                return Err(self.not_so(value, (found, &all[number]), (kernel, number)));
            }
        }
        for input in &template.inputs {
            let name = &input.tensor.text;
            let wrong = |message: String| Err(Fault::new(input.tensor.span, message));
            let tensors = &self.function.tensors;
            let Some(tensor) = tensors.iter().position(|tensor| tensor.name == *name) else {
                return wrong(format!("there is no input '{name}'"));
            };
            let found = rows.arrays.iter().find(|array| array.tensor == tensor);
            let is_read = kernel.parts.iter().any(|part| {
                let mut reads = false;
                part.statement.reads(&mut |read, _| reads |= read == tensor);
                reads
            });
            let found = found.map(|array| match array.place {
                RowPlace::Registers => Composition::Thread,
                RowPlace::Shared { .. } => Composition::Block,
            });
            match (found, is_read) {
                (found, _) if found == Some(input.composition) => {}
                (_, false) => return wrong(format!("no statement of the kernel reads '{name}'")),
                (_, true) => {
                    let kept = match input.composition {
                        Composition::Thread => "in the registers of the threads that read it",
                        Composition::Block => "in shared memory",
                        _ => {
                            return wrong(format!(
                                "an input is kept by 'thread' or 'block', not by '{}'",
                                input.composition.name()
                            ));
                        }
                    };
                    return wrong(format!(
                        "'{name}' cannot be kept {kept}: it takes two statements that read it by rows, each element where the first one does, and for registers an extent that is a number"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Why a value is not given on as its template says.
    fn not_so(
        &self,
        value: &ValueTemplate,
        (found, named): (Composition, &Named<'f>),
        (kernel, number): (&Kernel<'f>, usize),
    ) -> Fault {
        let name = named.name(self.function);
        let Plan::Rows(rows) = &kernel.plan else {
            return Fault::new(value.tensor.span, format!("'{name}' has no row"));
        };
        let mut readers = kernel.parts.iter().skip(number + 1).filter(|part| {
            let mut reads = false;
            part.statement
                .reads(&mut |tensor, _| reads |= tensor == named.statement.target);
            reads
        });
        let reader = readers.next_back();
        let reader = reader.map(|part| &self.function.tensors[part.statement.target].name);
        let is_element = rows.parts[number].is_held;
        let message = match (is_element, value.composition, reader) {
            (true, ..) => {
                let how = match found {
                    Composition::Warp => "the lanes of a warp reduce it together",
                    Composition::Block => "threads of several warps reduce it together",
                    _ => "each thread of the row makes it by itself",
                };
                format!(
                    "'{name}' is one element of the row, and {how}: write '{}'",
                    found.name()
                )
            }
            (_, Composition::Thread, Some(reader)) => format!(
                "'{name}' cannot stay in the threads that make it: '{reader}' reads it in a later loop, which takes rows of a number of elements, few for each thread, and each read where it was made"
            ),
            (_, Composition::Block, Some(reader)) => format!(
                "'{name}' cannot be in shared memory for '{reader}': that takes a row that one statement fills, and subscripts that begin with the row's indices"
            ),
            (_, Composition::Memory, Some(_)) if found != Composition::Memory => format!(
                "'{name}' stays in the threads that make it, as all that reads it is in its loop: write '{}'",
                found.name()
            ),
            (_, _, None) => format!(
                "nothing in the kernel reads '{name}' later: write '{}'",
                found.name()
            ),
            (..) => format!(
                "'{name}' is no reduction of the row to one element: write '{}'",
                found.name()
            ),
        };
        Fault::new(value.tensor.span, message)
    }

    /// Kernels side by side in one.
    fn packed(
        &self,
        templates: &[KernelTemplate],
        kernels: Vec<Kernel<'f>>,
    ) -> Result<Kernel<'f>, Fault> {
        if templates.len() != kernels.len() {
            let message = "a scatter that begins with neutral elements has two launches, which are not packed";
            return Err(Fault::new(templates[0].span, message));
        }
        for (number, (template, kernel)) in templates.iter().zip(&kernels).enumerate() {
            if !can_pack(kernel) {
                return Err(Fault::new(
                    template.span,
                    "only kernels with blocks of 256 threads are packed: elements, rows by lanes, and columns by 8 threads",
                ));
            }
            for (before, other) in templates[..number].iter().zip(&kernels) {
                for a in &other.parts {
                    for b in &kernel.parts {
                        if !are_independent(a.statement, b.statement) {
                            let name = |statement: usize| &self.function.tensors[statement].name;
                            let message = format!(
                                "'{}' and '{}' cannot be packed: one needs or changes what the other one makes",
                                name(b.statement.target),
                                name(a.statement.target)
                            );
                            let fault = Fault::new(template.span, message);
                            return Err(fault.note(before.span, "the other kernel is here"));
                        }
                    }
                }
            }
        }
        Ok(Kernel {
            threads: Vec::new(),
            parts: kernels
                .iter()
                .flat_map(|kernel| kernel.parts.iter().cloned())
                .collect(),
            plan: Plan::Packed(kernels),
        })
    }
}

/// Threads of a block of a packing.
const PACKED_THREADS: usize = 256;

/// Whether a kernel can be packed with others: its blocks have the threads that theirs have.
pub(super) fn can_pack(kernel: &Kernel<'_>) -> bool {
    match &kernel.plan {
        Plan::Elements => !kernel.threads.is_empty(),
        Plan::Rows(rows) => match rows.team {
            Team::Block => false,
            Team::Lanes { lanes, rows } => lanes * rows == PACKED_THREADS,
            Team::Columns { threads } => threads * 32 == PACKED_THREADS,
        },
        Plan::Tiles(_) | Plan::Layers(_) | Plan::Packed(_) | Plan::Nest(_) => false,
    }
}

/// That an item of a template has no place in the definition.
fn not_there(item: &Item) -> Fault {
    let (span, what) = match item {
        Item::Kernel(kernel) => (kernel.span, "a kernel"),
        Item::Packing(kernels) => (kernels[0].span, "a packing"),
        Item::Loop(index, _) => (index.span, "a time loop"),
    };
    Fault::new(span, format!("the definition has no place for {what} here"))
}

/// How a statement of a planned kernel of rows gives its value on.
pub(super) fn composition((kernel, rows): (&Kernel<'_>, &Rows), number: usize) -> Composition {
    let (part, row) = (&kernel.parts[number], &rows.parts[number]);
    let target = part.statement.target;
    if row.is_held {
        let is_joined = part.statement.reduced().next().is_some();
        return match (is_joined, rows.team) {
            (false, _) => Composition::Thread,
            (true, Team::Lanes { .. }) => Composition::Warp,
            (true, _) => Composition::Block,
        };
    }
    let array = rows.arrays.iter().find(|array| array.tensor == target);
    match array.map(|array| array.place) {
        Some(RowPlace::Registers) => return Composition::Thread,
        Some(RowPlace::Shared { .. }) => return Composition::Block,
        None => {}
    }
    let own = ranges(part, &row.shared_out);
    let mut stays = true;
    for (later, other) in kernel.parts.iter().enumerate().skip(number + 1) {
        let in_loop = rows.parts[number + 1..=later].iter().all(|row| row.joins);
        let mut see = |tensor: usize, subscripts: &[_]| {
            if tensor == target {
                let at = place(kernel, other, subscripts, &rows.parts[later].shared_out);
                let held = holder(kernel, &rows.parts[..later], other, tensor, subscripts);
                stays &= in_loop && at.is_some() && at == own && held.is_none();
            }
        };
        let statement = other.statement;
        statement.reads(&mut see);
        if matches!(statement.operator, Operator::Reduce(_, false)) {
            see(statement.target, &statement.subscripts);
        }
    }
    match stays {
        true => Composition::Thread,
        false => Composition::Memory,
    }
}
