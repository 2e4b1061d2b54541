//! The launches of a host loop's iterations one after the other in a kernel that computes itself whether the host would go
//! on.
//!
//! Invariants: all blocks wait for each other between the last store of an iteration and the loads of what its copies read,
//! where the plan says so again behind these; then each thread computes the test from the same bytes, so that all go on or
//! none does. One thread writes down what the copies bring, and how many iterations there were. Arithmetic is that of the
//! host: no operation is contracted, none is approximate.

use super::super::at_once::Form;
use super::super::indices::Index;
use super::super::specialisation::{Parameter, SiteReader};
use super::super::{GroupBuilder, segment};
use crate::codegen::{
    CodegenError, FusedParameter, LOOP_ROWS_OFFSET_BYTES, LoopValue, loop_row_bytes,
};
use crate::launch::{
    FloatComparison, HostBlockId, IntegerComparison, LaunchId, LoopArgumentValue, NodeId, NodeKind,
    Scalar, ScalarKind, ScalarOperation, ScalarType,
};
use crate::llvm::{
    Block, Builder, DebugScope, IntegerPredicate, Opcode, RealPredicate, Type, Value,
};
use crate::math::affine::Axis;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// How iterations follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct LoopShape {
    scalars: Vec<Scalar>,
    /// Scalars that are 1 where the host goes on, by the position of the first member behind the test.
    exits: Vec<(usize, usize)>,
    /// By number that is carried: the parameter that it is at first, and the scalar that it is next.
    carried: Vec<(usize, usize)>,
    /// The parameter of each scalar that the host has.
    given: Vec<Option<usize>>,
    copies: Vec<CopyShape>,
    /// Parameters that are numbers of an iteration.
    numbers: Vec<(usize, LoopArgumentValue)>,
    /// The parameter that says where the rows are.
    rows: usize,
    /// Parameters that in the next iteration are what another one is now.
    turning: Vec<(usize, usize)>,
    most: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct CopyShape {
    /// The parameter that says where it reads.
    source: usize,
    bytes: u32,
    /// The position of the first member behind it.
    after: usize,
    barrier_behind: bool,
}

impl LoopShape {
    /// Whether pointers change places from iteration to iteration.
    pub(in crate::codegen::fused_kernels::fuse) fn turns(&self) -> bool {
        !self.turning.is_empty()
    }
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// How the group's iterations follow each other, if they do; what the kernel takes from the host becomes a parameter.
    pub(in crate::codegen::fused_kernels::fuse) fn tested_loop(
        &self,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Option<LoopShape> {
        let plan = self.group.tested_loop.as_ref()?;
        let test = self.graph.loop_tests.get(&plan.host_loop)?.as_ref().ok()?;
        let place = |argument: &(LaunchId, usize)| {
            let mut all = parameters.iter();
            all.position(|parameter| parameter.source.argument() == Some(*argument))
        };
        // Of equal arguments one is passed.
        let turning = plan.turning.iter();
        let turning = turning.filter_map(|[own, source]| Some((place(own)?, place(source)?)));
        let turning = turning.collect();
        let launch = |node: NodeId| match &self.graph.nodes[node.0].kind {
            NodeKind::Launch(launch) => Some(launch.id),
            _ => None,
        };
        let numbers = test.arguments.iter().filter_map(|argument| {
            let own = (launch(argument.node)?, argument.argument);
            Some((place(&own)?, argument.value))
        });
        let numbers = numbers.collect();
        let module = self.module;
        let mut add = |source: FusedParameter, ty: Type<'ctx>| {
            parameters.push(Parameter {
                source,
                ty,
                identity: None,
                of_body: None,
            });
            parameters.len() - 1
        };
        let rows = add(FusedParameter::LoopRows, Type::pointer(module, 0));
        let copies = test.copies.iter().zip(&plan.copies).map(|(copy, planned)| {
            let source = FusedParameter::LoopValue(LoopValue::Source(copy.node));
            CopyShape {
                source: add(source, Type::pointer(module, 0)),
                bytes: copy.bytes,
                after: planned.after,
                barrier_behind: planned.barrier_behind,
            }
        });
        let copies = copies.collect();
        let carried = test.carried.iter().map(|carried| {
            let value = LoopValue::Scalar(carried.now, carried.ty);
            let ty = type_in_memory(module, carried.ty);
            (add(FusedParameter::LoopValue(value), ty), carried.next)
        });
        let carried = carried.collect();
        let given = test.scalars.iter().map(|scalar| match scalar.kind {
            ScalarKind::Host(place) => {
                let value = LoopValue::Scalar(place, scalar.ty);
                let ty = type_in_memory(module, scalar.ty);
                Some(add(FusedParameter::LoopValue(value), ty))
            }
            _ => None,
        });
        let given = given.collect();
        let exits = test.exits.iter().filter_map(|exit| {
            // The next iteration begins behind all members of this one.
            let behind = match exit.of_next {
                true => self.group.members.len(),
                false => self.members_before(exit.block),
            };
            Some((exit.stays?, behind))
        });
        Some(LoopShape {
            exits: exits.collect(),
            given,
            scalars: test.scalars.clone(),
            carried,
            copies,
            numbers,
            rows,
            turning,
            most: plan.most_iterations,
        })
    }

    /// How many members the host comes to before the end of a block of the loop.
    fn members_before(&self, block: HostBlockId) -> usize {
        let graph = self.graph;
        let mut dominators = Vec::new();
        let mut at = Some(block);
        while let Some(block) = at {
            dominators.push(block);
            at = graph.blocks[block.0].immediate_dominator;
        }
        let nodes: BTreeMap<LaunchId, NodeId> = graph.launches().collect();
        let members = self.members.iter();
        let passed = members.filter(|(launch, _)| {
            let node = nodes.get(&launch.id);
            node.is_some_and(|node| dominators.contains(&graph.nodes[node.0].block))
        });
        passed.count()
    }
}

/// What is known while an iteration is written.
struct Iteration<'a, 'ctx> {
    form: Form,
    of_loop: &'a LoopShape,
    carried: Vec<Value<'ctx>>,
    /// By copy.
    copied: Vec<Option<Pieces<'ctx>>>,
    /// By scalar.
    scalars: Vec<Option<Value<'ctx>>>,
    /// Whether this is the thread that writes rows.
    writes: Value<'ctx>,
    /// The number of the iteration.
    number: Value<'ctx>,
    /// Where the kernel ends.
    done: Block<'ctx>,
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// The kernel's body: iterations until the test says no, or there is no more room for what copies bring.
    pub(in crate::codegen::fused_kernels::fuse) fn write_loop(
        &self,
        kernel: Value<'ctx>,
        bodies: &[segment::Body<'ctx>],
        of_loop: &LoopShape,
    ) -> Result<(), CodegenError> {
        let module = self.module;
        let builder = Builder::at_end(Block::append(kernel, "entry"));
        let mut all = bodies.iter();
        if let Some(scope) = all.find_map(|body| DebugScope::of(module, body.function)) {
            scope.cover(kernel, &kernel.name(), &builder);
        }
        self.write_forms((kernel, &builder), bodies, &|form| {
            self.write_iterations((kernel, &builder), bodies, (form, of_loop))
        })?;
        builder.ret(None);
        Ok(())
    }

    /// The iterations in one form of the kernel.
    fn write_iterations(
        &self,
        (kernel, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
        (form, of_loop): (Form, &LoopShape),
    ) -> Result<(), CodegenError> {
        let int = Type::integer(self.module, 32);
        let parameters = kernel.parameters();
        let writes = self.is_first_thread(builder);
        let entry = builder.block();
        let [round, again, done] =
            ["round", "again", "done"].map(|name| Block::append(kernel, name));
        builder.branch(round);

        builder.continue_in(round);
        let start = |value: Value| {
            let phi = builder.phi(value.ty());
            phi.add_incoming(value, entry);
            phi
        };
        let number = start(int.constant(0));
        let mut begins = parameters.clone();
        for (own, _) in &of_loop.turning {
            begins[*own] = start(parameters[*own]);
        }
        let handed_on = of_loop
            .numbers
            .iter()
            .filter_map(|(own, value)| match value {
                LoopArgumentValue::HandedOn(next) => Some((*own, *next)),
                LoopArgumentValue::Computed(_) => None,
            });
        let mut handed_on: Vec<(usize, usize)> = handed_on.collect();
        // Equal arguments are one parameter.
        handed_on.sort_unstable();
        handed_on.dedup_by_key(|(own, _)| *own);
        for (own, _) in &handed_on {
            begins[*own] = start(parameters[*own]);
        }
        let carried = of_loop.carried.iter();
        let carried: Vec<Value> = carried
            .map(|(first, _)| start(parameters[*first]))
            .collect();
        let iteration = RefCell::new(Iteration {
            form,
            of_loop,
            carried: carried.clone(),
            copied: of_loop.copies.iter().map(|_| None).collect(),
            scalars: vec![None; of_loop.scalars.len()],
            writes,
            number,
            done,
        });
        let one = int.constant(1);
        let next = builder.binary(Opcode::LLVMAdd, number, one);
        self.by_first_thread(kernel, builder, writes, || {
            builder.store_aligned(next, parameters[of_loop.rows], 4);
        });
        let mut values = begins.clone();
        self.compute_numbers(
            builder,
            &mut iteration.borrow_mut(),
            &parameters,
            &mut values,
        );
        let between = |position: usize, values: &mut Vec<Value<'ctx>>| {
            let mut iteration = iteration.borrow_mut();
            self.write_between((kernel, builder), &mut iteration, position, values)
        };
        self.write_phases((kernel, builder), bodies, (form, &mut values), &between)?;
        let mut iteration = iteration.into_inner();
        let end = bodies.len();
        self.write_between((kernel, builder), &mut iteration, end, &mut values)?;
        let more = builder.is_below(next, int.constant(of_loop.most.into()));
        builder.branch_if(more, again, done);

        builder.continue_in(again);
        let phis = handed_on.iter().map(|(own, next)| (begins[*own], *next));
        let carried = carried.iter().zip(&of_loop.carried);
        let phis = phis.chain(carried.map(|(phi, (_, next))| (*phi, *next)));
        let phis: Vec<(Value, Value)> = phis
            .map(|(phi, next)| {
                let next = self.scalar(builder, &mut iteration, &parameters, next);
                (phi, in_memory(builder, next, phi.ty()))
            })
            .collect();
        let latch = builder.block();
        number.add_incoming(next, latch);
        for (own, source) in &of_loop.turning {
            begins[*own].add_incoming(begins[*source], latch);
        }
        for (phi, next) in phis {
            phi.add_incoming(next, latch);
        }
        builder.branch(round);
        builder.continue_in(done);
        Ok(())
    }

    /// What stands in front of the member at a position, or behind all: all blocks wait where they have to, copies bring what they
    /// read, numbers are computed from that, and the kernel ends where the host would leave the loop.
    fn write_between(
        &self,
        (kernel, builder): (Value<'ctx>, &Builder<'ctx>),
        iteration: &mut Iteration<'_, 'ctx>,
        position: usize,
        values: &mut [Value<'ctx>],
    ) -> Result<(), CodegenError> {
        let form = iteration.form;
        let parameters = kernel.parameters();
        let of_loop = iteration.of_loop;
        let own = |copy: &&(usize, &CopyShape)| copy.1.after == position;
        let copies: Vec<(usize, &CopyShape)> = of_loop.copies.iter().enumerate().collect();
        let copies: Vec<&(usize, &CopyShape)> = copies.iter().filter(own).collect();
        // Between two phases, and between two iterations.
        self.wait_for_grid(builder, form, &position.to_string())?;
        for (number, copy) in &copies {
            let pieces = self.pieces(builder, parameters[copy.source], copy.bytes);
            self.keep(kernel, builder, iteration, (*number, &pieces));
            iteration.copied[*number] = Some(pieces);
        }
        if copies.iter().any(|(_, copy)| copy.barrier_behind) {
            self.wait_for_grid(builder, form, &format!("behind{position}"))?;
        }
        let exits = of_loop.exits.iter();
        for (stays, _) in exits.filter(|(_, behind)| *behind == position) {
            let stays = self.scalar(builder, iteration, &parameters, *stays);
            let goes_on = Block::append(kernel, "goes_on");
            builder.branch_if(stays, goes_on, iteration.done);
            builder.continue_in(goes_on);
        }
        self.compute_numbers(builder, iteration, &parameters, values);
        Ok(())
    }

    /// The numbers that members take, as far as they are known.
    fn compute_numbers(
        &self,
        builder: &Builder<'ctx>,
        iteration: &mut Iteration<'_, 'ctx>,
        parameters: &[Value<'ctx>],
        values: &mut [Value<'ctx>],
    ) {
        for (own, value) in &iteration.of_loop.numbers {
            if let LoopArgumentValue::Computed(scalar) = value
                && self.is_known(iteration, *scalar)
            {
                let scalar = self.scalar(builder, iteration, parameters, *scalar);
                values[*own] = in_memory(builder, scalar, parameters[*own].ty());
            }
        }
    }

    /// Keeps for the host what a copy brings.
    fn keep(
        &self,
        kernel: Value<'ctx>,
        builder: &Builder<'ctx>,
        iteration: &Iteration<'_, 'ctx>,
        (number, pieces): (usize, &Pieces<'ctx>),
    ) {
        let long = Type::integer(self.module, 64);
        let byte = Type::integer(self.module, 8);
        let of_loop = iteration.of_loop;
        let bytes = |copies: &[CopyShape]| loop_row_bytes(copies.iter().map(|copy| copy.bytes));
        let begin = LOOP_ROWS_OFFSET_BYTES + bytes(&of_loop.copies[..number]);
        let rows = kernel.parameters()[of_loop.rows];
        self.by_first_thread(kernel, builder, iteration.writes, || {
            let row = builder.cast(Opcode::LLVMZExt, iteration.number, long);
            let row_bytes = long.constant(bytes(&of_loop.copies).into());
            let row = builder.binary(Opcode::LLVMMul, row, row_bytes);
            let mut offset = u64::from(begin);
            for piece in &pieces.values {
                let at = builder.binary(Opcode::LLVMAdd, row, long.constant(offset));
                let at = builder.element_pointer(byte, rows, &[at]);
                builder.store_aligned(*piece, at, pieces.bytes as u32);
                offset += pieces.bytes;
            }
        });
    }

    /// What one thread of the launch does alone.
    fn by_first_thread(&self, kernel: Value, builder: &Builder, is_first: Value, write: impl Fn()) {
        let [own, behind] = ["own", "behind"].map(|name| Block::append(kernel, name));
        builder.branch_if(is_first, own, behind);
        builder.continue_in(own);
        write();
        builder.branch(behind);
        builder.continue_in(behind);
    }

    /// Whether this is the first thread of the first block.
    fn is_first_thread(&self, builder: &Builder<'ctx>) -> Value<'ctx> {
        let module = self.module;
        let mut all = Index::Block(Axis::X).read(module, builder);
        for axis in Axis::ALL {
            let own = Index::Thread(axis).read(module, builder);
            all = builder.binary(Opcode::LLVMOr, all, own);
        }
        let zero = Type::integer(module, 32).constant(0);
        builder.compare(IntegerPredicate::LLVMIntEQ, all, zero)
    }

    /// What a copy reads.
    fn pieces(&self, builder: &Builder<'ctx>, source: Value<'ctx>, bytes: u32) -> Pieces<'ctx> {
        let byte = Type::integer(self.module, 8);
        let long = Type::integer(self.module, 64);
        let piece = piece_bytes(bytes);
        let ty = Type::integer(self.module, 8 * piece);
        let values = (0..bytes / piece).map(|number| {
            let offset = long.constant(u64::from(number * piece));
            let place = builder.element_pointer(byte, source, &[offset]);
            builder.load_aligned(ty, place, piece)
        });
        Pieces {
            bytes: piece.into(),
            values: values.collect(),
        }
    }

    /// Whether all copies have been made on which a scalar rests.
    fn is_known(&self, iteration: &Iteration<'_, 'ctx>, scalar: usize) -> bool {
        match &iteration.of_loop.scalars[scalar].kind {
            ScalarKind::Copied { copy, .. } => iteration.copied[*copy].is_some(),
            ScalarKind::Computed { operands, .. } => {
                let mut operands = operands.iter();
                operands.all(|operand| self.is_known(iteration, *operand))
            }
            ScalarKind::Literal(_) | ScalarKind::Host(_) | ScalarKind::Carried(_) => true,
        }
    }

    /// A scalar where the builder stands, or before.
    fn scalar(
        &self,
        builder: &Builder<'ctx>,
        iteration: &mut Iteration<'_, 'ctx>,
        parameters: &[Value<'ctx>],
        number: usize,
    ) -> Value<'ctx> {
        if let Some(known) = iteration.scalars[number] {
            return known;
        }
        let module = self.module;
        let scalar = &iteration.of_loop.scalars[number];
        let ty = type_of(module, scalar.ty);
        let value = match &scalar.kind {
            ScalarKind::Literal(bits) => literal(module, builder, scalar.ty, *bits),
            ScalarKind::Host(_) => {
                let given = iteration.of_loop.given[number].unwrap_or(0);
                from_memory(builder, parameters[given], ty)
            }
            ScalarKind::Carried(own) => from_memory(builder, iteration.carried[*own], ty),
            ScalarKind::Copied { copy, offset_bytes } => match &iteration.copied[*copy] {
                Some(pieces) => pieces.scalar(self, builder, scalar.ty, u64::from(*offset_bytes)),
                // The verifier has seen that it is there.
                None => ty.poison(),
            },
            ScalarKind::Computed {
                operation,
                operands,
            } => {
                let own = operands.iter();
                let own: Vec<Value> = own
                    .map(|own| self.scalar(builder, iteration, parameters, *own))
                    .collect();
                self.compute(builder, *operation, &own, scalar.ty)
            }
        };
        iteration.scalars[number] = Some(value);
        value
    }

    fn compute(
        &self,
        builder: &Builder<'ctx>,
        operation: ScalarOperation,
        own: &[Value<'ctx>],
        ty: ScalarType,
    ) -> Value<'ctx> {
        let to = type_of(self.module, ty);
        let double = matches!(ty, ScalarType::Float(true));
        let binary = |opcode| builder.binary(opcode, own[0], own[1]);
        let cast = |opcode| builder.cast(opcode, own[0], to);
        // Rounded by itself, whatever stands beside it.
        let rounded = |name: &str, operands: &[Value<'ctx>]| {
            let suffix = if double { "d" } else { "f" };
            let name = format!("llvm.nvvm.{name}.rn.{suffix}");
            let types: Vec<Type> = operands.iter().map(|operand| operand.ty()).collect();
            let ty = Type::function(to, &types);
            let function = Value::function(self.module, &name)
                .unwrap_or_else(|| Value::add_function(self.module, &name, ty));
            builder.call(ty, function, operands)
        };
        // The sign is the highest bit.
        let with_sign = |value: Value, opcode: Opcode, negative: bool| {
            let bits = if double { 64 } else { 32 };
            let int = Type::integer(self.module, bits);
            let sign = 1_u64 << (bits - 1);
            let mask = if negative { sign } else { sign - 1 };
            let value = builder.cast(Opcode::LLVMBitCast, value, int);
            let value = builder.binary(opcode, value, int.constant(mask));
            builder.cast(Opcode::LLVMBitCast, value, to)
        };
        match operation {
            ScalarOperation::Add => binary(Opcode::LLVMAdd),
            ScalarOperation::Subtract => binary(Opcode::LLVMSub),
            ScalarOperation::Multiply => binary(Opcode::LLVMMul),
            ScalarOperation::And => binary(Opcode::LLVMAnd),
            ScalarOperation::Or => binary(Opcode::LLVMOr),
            ScalarOperation::Xor => binary(Opcode::LLVMXor),
            ScalarOperation::ZeroExtend => cast(Opcode::LLVMZExt),
            ScalarOperation::SignExtend => cast(Opcode::LLVMSExt),
            ScalarOperation::Truncate => cast(Opcode::LLVMTrunc),
            ScalarOperation::FloatExtend => cast(Opcode::LLVMFPExt),
            ScalarOperation::FloatTruncate => cast(Opcode::LLVMFPTrunc),
            ScalarOperation::SignedToFloat => cast(Opcode::LLVMSIToFP),
            ScalarOperation::UnsignedToFloat => cast(Opcode::LLVMUIToFP),
            ScalarOperation::Select => builder.select(own[0], own[1], own[2]),
            ScalarOperation::Compare(comparison) => {
                builder.compare(predicate(comparison), own[0], own[1])
            }
            ScalarOperation::CompareFloat(comparison) => {
                builder.compare_floats(real_predicate(comparison), own[0], own[1])
            }
            ScalarOperation::FloatAdd => rounded("add", own),
            ScalarOperation::FloatSubtract => {
                let other = with_sign(own[1], Opcode::LLVMXor, true);
                rounded("add", &[own[0], other])
            }
            ScalarOperation::FloatMultiply => rounded("mul", own),
            ScalarOperation::FloatDivide => rounded("div", own),
            ScalarOperation::SquareRoot => rounded("sqrt", own),
            ScalarOperation::FloatNegate => with_sign(own[0], Opcode::LLVMXor, true),
            ScalarOperation::FloatAbsolute => with_sign(own[0], Opcode::LLVMAnd, false),
        }
    }
}

/// What a copy reads, in pieces of so many bytes.
struct Pieces<'ctx> {
    bytes: u64,
    values: Vec<Value<'ctx>>,
}

impl<'ctx> Pieces<'ctx> {
    /// The scalar that begins so many bytes into it.
    fn scalar(
        &self,
        group: &GroupBuilder<'_, 'ctx>,
        builder: &Builder<'ctx>,
        ty: ScalarType,
        offset: u64,
    ) -> Value<'ctx> {
        let long = Type::integer(group.module, 64);
        let size = u64::from(ty.bytes());
        // Byte by byte where it does not lie in one piece.
        let piece_of = |at: u64| {
            let value = self.values[(at / self.bytes) as usize];
            let value = match self.bytes {
                8 => value,
                _ => builder.cast(Opcode::LLVMZExt, value, long),
            };
            let shift = long.constant(8 * (at % self.bytes));
            builder.binary(Opcode::LLVMLShr, value, shift)
        };
        let step = self.bytes.min(size);
        let aligned = offset.is_multiple_of(step);
        let step = if aligned { step } else { 1 };
        let mut all = long.constant(0);
        for at in (0..size).step_by(step as usize) {
            let mask = long.constant(u64::MAX >> (64 - 8 * step));
            let piece = builder.binary(Opcode::LLVMAnd, piece_of(offset + at), mask);
            let piece = builder.binary(Opcode::LLVMShl, piece, long.constant(8 * at));
            all = builder.binary(Opcode::LLVMOr, all, piece);
        }
        let bits = match ty {
            ScalarType::Integer(bits) => bits,
            ScalarType::Float(double) => 32 << u32::from(double),
        };
        let int = Type::integer(group.module, bits);
        let value = match bits {
            64 => all,
            _ => builder.cast(Opcode::LLVMTrunc, all, int),
        };
        match ty {
            ScalarType::Integer(_) => value,
            ScalarType::Float(_) => {
                let to = type_of(group.module, ty);
                builder.cast(Opcode::LLVMBitCast, value, to)
            }
        }
    }
}

/// The largest piece, a power of two of at most eight bytes, of which a copy of so many bytes has a whole number.
pub(in crate::codegen) fn piece_bytes(bytes: u32) -> u32 {
    1 << bytes.trailing_zeros().min(3)
}

fn type_of<'ctx>(module: &inkwell::module::Module<'ctx>, ty: ScalarType) -> Type<'ctx> {
    match ty {
        ScalarType::Integer(bits) => Type::integer(module, bits),
        ScalarType::Float(double) => Type::float(module, double),
    }
}

/// Numbers of odd widths are passed in whole bytes.
fn type_in_memory<'ctx>(module: &inkwell::module::Module<'ctx>, ty: ScalarType) -> Type<'ctx> {
    match ty {
        ScalarType::Integer(_) => Type::integer(module, 8 * ty.bytes()),
        ScalarType::Float(double) => Type::float(module, double),
    }
}

fn from_memory<'ctx>(builder: &Builder<'ctx>, value: Value<'ctx>, ty: Type<'ctx>) -> Value<'ctx> {
    match value.ty() == ty {
        true => value,
        false => builder.cast(Opcode::LLVMTrunc, value, ty),
    }
}

fn in_memory<'ctx>(builder: &Builder<'ctx>, value: Value<'ctx>, ty: Type<'ctx>) -> Value<'ctx> {
    match value.ty() == ty {
        true => value,
        false => builder.cast(Opcode::LLVMZExt, value, ty),
    }
}

fn literal<'ctx>(
    module: &inkwell::module::Module<'ctx>,
    builder: &Builder<'ctx>,
    ty: ScalarType,
    bits: u64,
) -> Value<'ctx> {
    match ty {
        ScalarType::Integer(_) => type_of(module, ty).constant(bits),
        ScalarType::Float(double) => {
            let int = Type::integer(module, 32 << u32::from(double));
            builder.cast(Opcode::LLVMBitCast, int.constant(bits), type_of(module, ty))
        }
    }
}

fn predicate(comparison: IntegerComparison) -> IntegerPredicate {
    match comparison {
        IntegerComparison::Equal => IntegerPredicate::LLVMIntEQ,
        IntegerComparison::NotEqual => IntegerPredicate::LLVMIntNE,
        IntegerComparison::UnsignedGreater => IntegerPredicate::LLVMIntUGT,
        IntegerComparison::UnsignedGreaterEqual => IntegerPredicate::LLVMIntUGE,
        IntegerComparison::UnsignedLess => IntegerPredicate::LLVMIntULT,
        IntegerComparison::UnsignedLessEqual => IntegerPredicate::LLVMIntULE,
        IntegerComparison::SignedGreater => IntegerPredicate::LLVMIntSGT,
        IntegerComparison::SignedGreaterEqual => IntegerPredicate::LLVMIntSGE,
        IntegerComparison::SignedLess => IntegerPredicate::LLVMIntSLT,
        IntegerComparison::SignedLessEqual => IntegerPredicate::LLVMIntSLE,
    }
}

fn real_predicate(comparison: FloatComparison) -> RealPredicate {
    let FloatComparison {
        equal,
        greater,
        less,
        unordered,
    } = comparison;
    match (unordered, less, greater, equal) {
        (false, false, false, false) => RealPredicate::LLVMRealPredicateFalse,
        (false, false, false, true) => RealPredicate::LLVMRealOEQ,
        (false, false, true, false) => RealPredicate::LLVMRealOGT,
        (false, false, true, true) => RealPredicate::LLVMRealOGE,
        (false, true, false, false) => RealPredicate::LLVMRealOLT,
        (false, true, false, true) => RealPredicate::LLVMRealOLE,
        (false, true, true, false) => RealPredicate::LLVMRealONE,
        (false, true, true, true) => RealPredicate::LLVMRealORD,
        (true, false, false, false) => RealPredicate::LLVMRealUNO,
        (true, false, false, true) => RealPredicate::LLVMRealUEQ,
        (true, false, true, false) => RealPredicate::LLVMRealUGT,
        (true, false, true, true) => RealPredicate::LLVMRealUGE,
        (true, true, false, false) => RealPredicate::LLVMRealULT,
        (true, true, false, true) => RealPredicate::LLVMRealULE,
        (true, true, true, false) => RealPredicate::LLVMRealUNE,
        (true, true, true, true) => RealPredicate::LLVMRealPredicateTrue,
    }
}
