//! The host program of a scene's text, and the plan for it.
//!
//! ```text
//! buffer a, b, c;                       // memory of the device: `managed`, `pinned` and `variable` are others
//! int n, m = 100;                       // host values, unknown but for their names or of a constant
//! pointer p;                            // may lead anywhere
//! stream s;
//! main {                                // `function step { … }` may be called more than once
//!     scale<<<40, 256>>>(a, b, n);      // a launch goes by its kernel's name, or as `again: scale<<<…>>>(…);`
//!     if (?) { copy b -> host; }        // `else`, `while (?) { … }`
//!     again: scale<<<(m, 2), 256, 0, s>>>(b + 16, c, n);
//! }
//! plan { scale | again; requires valid again; }
//! ```
//!
//! Besides launches the host may say `copy a -> b;`, `copy host -> a;`, `set a;`, `free a;`, `synchronize;`, `check;`,
//! `wait_for_event;`, `access;` (of memory that kernels see), `print;`, `call "why";` (of which nothing is known).
//! `options grid_barriers, last_block;` lets the planner do what it does not do by itself: see `tests/scenes.rs`.
//! A plan's members come in order, with `|` for a barrier of each block between them, and `||` for one across the grid;
//! braces of their own for each group.

use super::kernels::read_kernel;
use super::scene::{Scene, anywhere, group, pointer_argument, start_of};
use super::syntax::{Syntax, Tokens};
use sirius_rs::dependence::{Guard, PointerRange};
use sirius_rs::kernel::{KernelModel, KernelSymbol, Target};
use sirius_rs::launch::{
    Argument, ArgumentPiece, Awaited, BufferId, HostBlock, HostBlockId, HostFunction, HostLoop,
    Launch, LaunchId, MemoryKind, NodeId, NodeKind, Operand, Pointer, Stream, Touch, ValueId,
};
use sirius_rs::math::expression::{Condition, Expression};
use sirius_rs::program::KernelId;
use sirius_rs::schedule::{FusionGroup, FusionPlan};
use std::collections::BTreeMap;

/// What a text says.
pub struct Text {
    pub scene: Scene,
    pub plan: Option<FusionPlan>,
    /// What the planner may do besides.
    pub options: Vec<String>,
    /// What launches go by, by their number.
    pub labels: BTreeMap<LaunchId, String>,
    /// What values go by.
    pub values: BTreeMap<ValueId, String>,
}

/// Reads a scene.
///
/// # Errors
/// A sentence with the line that it is about.
pub fn read(text: &str) -> Syntax<Text> {
    let mut tokens = Tokens::of(text)?;
    let mut reader = Reader {
        scene: Scene::new(),
        names: BTreeMap::new(),
        kernels: BTreeMap::new(),
        launches: BTreeMap::new(),
        around: None,
        plan: None,
        options: Vec::new(),
    };
    reader.scene.graph.functions.clear();
    reader.scene.graph.blocks.clear();
    while !tokens.is_at_end() {
        reader.item(&mut tokens)?;
    }
    if reader.scene.graph.functions.is_empty() {
        return Err("there is no 'main'".to_owned());
    }
    let names = reader.names.iter();
    let values = names.filter_map(|(name, named)| match named {
        Named::Integer(value) | Named::Pointer(value) | Named::Stream(value) => {
            Some((*value, name.clone()))
        }
        Named::Buffer(_) => None,
    });
    let values = values.collect();
    let launches = reader.launches.into_iter();
    Ok(Text {
        scene: reader.scene,
        plan: reader.plan,
        options: reader.options,
        labels: launches.map(|(label, launch)| (launch, label)).collect(),
        values,
    })
}

#[derive(Clone, Copy)]
enum Named {
    Buffer(BufferId),
    Integer(ValueId),
    Pointer(ValueId),
    Stream(ValueId),
}

struct Reader {
    scene: Scene,
    names: BTreeMap<String, Named>,
    kernels: BTreeMap<String, KernelId>,
    launches: BTreeMap<String, LaunchId>,
    /// The innermost loop of the host around what is read.
    around: Option<usize>,
    plan: Option<FusionPlan>,
    options: Vec<String>,
}

impl Reader {
    fn item(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        match tokens.word()? {
            "kernel" => {
                let id = KernelId(self.scene.kernels.len());
                let model = read_kernel(tokens, id)?;
                let name = model.display_name.clone();
                self.scene.kernels.push(model);
                match self.kernels.insert(name.clone(), id) {
                    None => Ok(()),
                    Some(_) => tokens.fail(&format!("there are two kernels '{name}'")),
                }
            }
            "main" => self.function(tokens, "main", false),
            "function" => {
                let name = tokens.word()?;
                self.function(tokens, name, true)
            }
            "plan" => self.plan(tokens),
            "options" => {
                self.options = tokens.list(";", |tokens| tokens.word().map(str::to_owned))?;
                Ok(())
            }
            kind
            @ ("buffer" | "managed" | "pinned" | "variable" | "int" | "pointer" | "stream") => {
                self.declaration(tokens, kind)?;
                while tokens.take(",") {
                    self.declaration(tokens, kind)?;
                }
                tokens.expect(";")
            }
            other => tokens.fail(&format!("'{other}' begins nothing")),
        }
    }

    fn declaration(&mut self, tokens: &mut Tokens<'_>, kind: &str) -> Syntax<()> {
        let name = tokens.word()?;
        let memory = match kind {
            "managed" => Some(MemoryKind::Managed),
            "pinned" => Some(MemoryKind::Pinned),
            "variable" => Some(MemoryKind::DeviceVariable),
            "buffer" => Some(MemoryKind::Device),
            _ => None,
        };
        let named = match (memory, kind) {
            (Some(memory), _) => {
                let buffer = self.scene.buffer(name);
                let made = &mut self.scene.graph.buffers[buffer.0];
                made.memory = memory;
                made.escapes = memory == MemoryKind::DeviceVariable;
                Named::Buffer(buffer)
            }
            (None, "int") if tokens.take("=") => {
                Named::Integer(self.scene.constant(tokens.number()?))
            }
            (None, "int") => Named::Integer(self.scene.unknown()),
            (None, "pointer") => Named::Pointer(self.scene.unknown()),
            (None, _) => Named::Stream(self.scene.unknown()),
        };
        match self.names.insert(name.to_owned(), named) {
            None => Ok(()),
            Some(_) => tokens.fail(&format!("'{name}' is declared twice")),
        }
    }

    fn function(&mut self, tokens: &mut Tokens<'_>, name: &str, repeated: bool) -> Syntax<()> {
        let entry = HostBlockId(self.scene.graph.blocks.len());
        self.scene.graph.functions.push(HostFunction {
            name: name.to_owned(),
            entry,
            repeated,
        });
        self.begin_block(None, &[]);
        tokens.expect("{")?;
        self.statements(tokens)
    }

    /// Goes on in a new block that comes behind others.
    fn begin_block(&mut self, dominator: Option<HostBlockId>, from: &[HostBlockId]) -> HostBlockId {
        let id = HostBlockId(self.scene.graph.blocks.len());
        self.scene.graph.blocks.push(HostBlock {
            function: self.scene.graph.functions.len() - 1,
            immediate_dominator: dominator,
            innermost_loop: self.around,
            position: id.0,
            ..HostBlock::default()
        });
        for each in from {
            self.scene.edge(*each, id);
        }
        self.scene.block = id;
        id
    }

    fn statements(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        while !tokens.take("}") {
            self.statement(tokens)?;
        }
        Ok(())
    }

    fn statement(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        let location = tokens.location();
        if tokens.is_ahead(1, ":") || tokens.is_ahead(1, "<<<") {
            let node = self.launch(tokens)?;
            self.scene.graph.nodes[node.0].location = location;
            return tokens.expect(";");
        }
        let kind = match tokens.word()? {
            "if" => return self.branch(tokens),
            "while" => return self.host_loop(tokens),
            "copy" => self.copy(tokens)?,
            "set" => NodeKind::Set {
                writes: self.touch(tokens)?,
                stream: Stream::Default,
            },
            "free" => NodeKind::Free {
                pointer: Some(self.touch(tokens)?.pointer),
            },
            "synchronize" => NodeKind::Synchronise(Awaited::Device),
            "wait_for_event" => NodeKind::Synchronise(Awaited::Event),
            "check" => NodeKind::ErrorCheck,
            "access" => NodeKind::HostAccess { ordered: false },
            "print" => NodeKind::Output {
                what: "printf".to_owned(),
            },
            "call" => NodeKind::Opaque {
                what: tokens.text()?.to_owned(),
            },
            other => return tokens.fail(&format!("'{other}' is nothing that a host does")),
        };
        let node = self.scene.node(kind);
        self.scene.graph.nodes[node.0].location = location;
        tokens.expect(";")
    }

    fn branch(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        for each in ["(", "?", ")", "{"] {
            tokens.expect(each)?;
        }
        let condition = self.scene.block;
        self.begin_block(Some(condition), &[condition]);
        self.statements(tokens)?;
        let mut ends = vec![self.scene.block];
        match tokens.take("else") {
            true => {
                tokens.expect("{")?;
                self.begin_block(Some(condition), &[condition]);
                self.statements(tokens)?;
                ends.push(self.scene.block);
            }
            false => ends.push(condition),
        }
        self.begin_block(Some(condition), &ends);
        Ok(())
    }

    fn host_loop(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        for each in ["(", "?", ")", "{"] {
            tokens.expect(each)?;
        }
        let outer = self.around;
        self.around = Some(self.scene.graph.loops.len());
        let before = self.scene.block;
        let header = self.begin_block(Some(before), &[before]);
        self.scene.graph.loops.push(HostLoop {
            parent: outer,
            header,
            trip: None,
        });
        self.begin_block(Some(header), &[header]);
        self.statements(tokens)?;
        self.scene.edge(self.scene.block, header);
        self.around = outer;
        self.begin_block(Some(header), &[header]);
        Ok(())
    }

    fn copy(&mut self, tokens: &mut Tokens<'_>) -> Syntax<NodeKind> {
        let reads = self.side(tokens)?;
        tokens.expect("->")?;
        let writes = self.side(tokens)?;
        Ok(NodeKind::Copy {
            host_side: reads.is_empty() || writes.is_empty(),
            reads,
            writes,
            stream: Stream::Default,
            awaited_call: None,
            from_host: None,
        })
    }

    /// What a copy touches on the device on one side of its arrow.
    fn side(&self, tokens: &mut Tokens<'_>) -> Syntax<Vec<Touch>> {
        Ok(match tokens.take("host") {
            true => Vec::new(),
            false => vec![self.touch(tokens)?],
        })
    }

    fn launch(&mut self, tokens: &mut Tokens<'_>) -> Syntax<NodeId> {
        let label = tokens.word()?;
        let mut name = label;
        if tokens.take(":") {
            name = tokens.word()?;
        }
        let Some(kernel) = self.kernels.get(name).copied() else {
            return tokens.fail(&format!("there is no kernel '{name}'"));
        };
        let id = LaunchId(self.scene.graph.nodes.len() as u32);
        tokens.expect("<<<")?;
        let grid = self.extents(tokens)?;
        tokens.expect(",")?;
        let block = self.extents(tokens)?;
        let shared_bytes = match tokens.take(",") {
            true => self.integer(tokens)?,
            false => self.scene.constant(0),
        };
        let stream = match tokens.take(",") {
            true => self.stream(tokens)?,
            false => Stream::Default,
        };
        tokens.expect(">>>")?;
        tokens.expect("(")?;
        let formals = self.scene.kernels[kernel.0].formals.clone();
        let mut formals = formals.iter();
        let element_bytes = element_bytes(&self.scene.kernels[kernel.0]);
        let mut position = 0;
        let arguments = tokens.list(")", |tokens| {
            let Some(formal) = formals.next() else {
                return tokens.fail("there are too many arguments");
            };
            let bytes = element_bytes.get(&position).copied().unwrap_or(1);
            position += 1;
            match formal.is_pointer {
                true => self.pointer_argument(tokens, bytes),
                false => {
                    let value = self.integer(tokens)?;
                    Ok(argument(value, formal.size_bytes * 8, None))
                }
            }
        })?;
        if formals.next().is_some() {
            return tokens.fail("arguments are missing");
        }
        let node = self.scene.node(NodeKind::Launch(Launch {
            id,
            kernel: Some(kernel),
            grid,
            block,
            shared_bytes,
            stream,
            arguments,
            special: false,
        }));
        self.hold_values(id);
        if self.launches.insert(label.to_owned(), id).is_some() {
            return tokens.fail(&format!("there are two launches '{label}'"));
        }
        Ok(node)
    }

    /// Says of the values of a launch that it has them.
    fn hold_values(&mut self, id: LaunchId) {
        let launch = self.scene.launch_mut(id).clone();
        let mut held = Vec::new();
        for axis in 0..3 {
            held.push((launch.grid[axis], Operand::Grid(axis as u8)));
            held.push((launch.block[axis], Operand::Block(axis as u8)));
        }
        held.push((launch.shared_bytes, Operand::SharedBytes));
        if let Stream::Handle(value) = launch.stream {
            held.push((value, Operand::Stream));
        }
        for (argument, of) in launch.arguments.iter().enumerate() {
            let pieces = of.pieces.iter();
            held.extend(pieces.map(|piece| {
                let operand = Operand::Argument {
                    argument,
                    offset_bytes: 0,
                    bits: piece.bits,
                    signed: piece.pointer.is_none(),
                };
                (piece.value, operand)
            }));
        }
        for (value, operand) in held {
            self.scene.graph.values[value.0].holder = (id, operand);
        }
    }

    fn extents(&mut self, tokens: &mut Tokens<'_>) -> Syntax<[ValueId; 3]> {
        let given = match tokens.take("(") {
            true => tokens.list(")", |tokens| self.integer(tokens))?,
            false => vec![self.integer(tokens)?],
        };
        if given.is_empty() || given.len() > 3 {
            return tokens.fail("a shape has one to three extents");
        }
        let one = self.scene.constant(1);
        let mut extents = [one; 3];
        extents[..given.len()].copy_from_slice(&given);
        Ok(extents)
    }

    fn pointer_argument(&mut self, tokens: &mut Tokens<'_>, element: u32) -> Syntax<Argument> {
        let name = tokens.word()?;
        let mut pointer = match self.names.get(name) {
            Some(Named::Buffer(buffer)) => (self.scene.unknown(), self.start(*buffer)),
            Some(Named::Pointer(value)) => (*value, anywhere(*value)),
            _ => return tokens.fail(&format!("'{name}' is no buffer and no pointer")),
        };
        if tokens.take("+") {
            let offset = Expression::Constant(i64::from(element) * tokens.number()?);
            pointer = (
                self.scene.unknown(),
                Pointer {
                    offset_bytes: Some(offset),
                    ..pointer.1
                },
            );
        }
        Ok(argument(pointer.0, 64, Some(pointer.1)))
    }

    fn integer(&mut self, tokens: &mut Tokens<'_>) -> Syntax<ValueId> {
        if let Some(number) = tokens.take_number()? {
            return Ok(self.scene.constant(number));
        }
        let name = tokens.word()?;
        match self.names.get(name) {
            Some(Named::Integer(value)) => Ok(*value),
            _ => tokens.fail(&format!("'{name}' is no number of the host")),
        }
    }

    fn stream(&self, tokens: &mut Tokens<'_>) -> Syntax<Stream> {
        if tokens.take("?") {
            return Ok(Stream::Unknown);
        }
        if tokens.take("0") {
            return Ok(Stream::Default);
        }
        let name = tokens.word()?;
        match self.names.get(name) {
            Some(Named::Stream(value)) => Ok(Stream::Handle(*value)),
            _ => tokens.fail(&format!("'{name}' is no stream")),
        }
    }

    /// A buffer, from its start on.
    fn touch(&self, tokens: &mut Tokens<'_>) -> Syntax<Touch> {
        let name = tokens.word()?;
        match self.names.get(name) {
            Some(Named::Buffer(buffer)) => Ok(Touch {
                pointer: self.start(*buffer),
                bytes: None,
            }),
            _ => tokens.fail(&format!("'{name}' is no buffer")),
        }
    }

    fn start(&self, buffer: BufferId) -> Pointer {
        let memory = self.scene.graph.buffers[buffer.0].memory;
        Pointer {
            device_only: !matches!(memory, MemoryKind::Managed | MemoryKind::Pinned),
            ..start_of(buffer)
        }
    }

    fn plan(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        tokens.expect("{")?;
        let mut members = vec![(self.launched(tokens)?, false)];
        let mut grid_barriers = Vec::new();
        loop {
            let is_across_grid = tokens.take("||");
            let has_barrier = !is_across_grid && tokens.take("|");
            if !is_across_grid && !has_barrier && !tokens.take(",") {
                break;
            }
            grid_barriers.extend(is_across_grid.then_some(members.len()));
            members.push((self.launched(tokens)?, has_barrier));
        }
        tokens.expect(";")?;
        let mut guards = Vec::new();
        while !tokens.take("}") {
            tokens.expect("requires")?;
            guards.push(self.guard(tokens)?);
            tokens.expect(";")?;
        }
        let plan = self.plan.get_or_insert_default();
        plan.groups.push(FusionGroup {
            grid_barriers,
            ..group(&members, guards)
        });
        Ok(())
    }

    fn launched(&self, tokens: &mut Tokens<'_>) -> Syntax<LaunchId> {
        let label = tokens.word()?;
        match self.launches.get(label) {
            Some(launch) => Ok(*launch),
            None => tokens.fail(&format!("there is no launch '{label}'")),
        }
    }

    /// `valid LAUNCH`, `no_capture LAUNCH`, `resident ROUNDS`, `one_stream LAUNCH, LAUNCH`, `disjoint LAUNCH[N], LAUNCH[N]` of arguments by
    /// their positions, `same_or_disjoint`, or a comparison of host values.
    fn guard(&mut self, tokens: &mut Tokens<'_>) -> Syntax<Guard> {
        let word = tokens.peek().unwrap_or_default();
        let is_named = [
            "valid",
            "no_capture",
            "one_stream",
            "disjoint",
            "same_or_disjoint",
            "resident",
        ];
        if !is_named.contains(&word) {
            return self.comparison(tokens);
        }
        tokens.take(word);
        Ok(match word {
            "valid" => Guard::ConfigurationValid {
                launch: self.launched(tokens)?,
            },
            "resident" => Guard::Resident {
                rounds: u32::try_from(tokens.number()?).map_err(|error| error.to_string())?,
            },
            "no_capture" => Guard::NotCapturing {
                launch: self.launched(tokens)?,
            },
            "one_stream" => {
                let first = self.launched(tokens)?;
                tokens.expect(",")?;
                let second = self.launched(tokens)?;
                Guard::SameStream { first, second }
            }
            _ => {
                let left = self.range(tokens)?;
                tokens.expect(",")?;
                let right = self.range(tokens)?;
                match word {
                    "disjoint" => Guard::RangesDisjoint { left, right },
                    _ => Guard::SameOrDisjoint { left, right },
                }
            }
        })
    }

    /// What a launch's kernel stays within of an argument.
    fn range(&mut self, tokens: &mut Tokens<'_>) -> Syntax<PointerRange> {
        let id = self.launched(tokens)?;
        tokens.expect("[")?;
        let position = tokens.number()?.unsigned_abs() as usize;
        tokens.expect("]")?;
        let launch = self.scene.launch_mut(id).clone();
        let kernel = launch.kernel.map(|kernel| &self.scene.kernels[kernel.0]);
        let footprint = kernel.and_then(|kernel| {
            let target = pointer_argument(position);
            kernel
                .footprints
                .iter()
                .find(|footprint| footprint.target == target)
        });
        let Some(high) = footprint.and_then(|footprint| footprint.high_bytes.clone()) else {
            return tokens.fail("the array has no size");
        };
        let high_bytes = high.substitute(&mut |symbol| match symbol {
            KernelSymbol::Argument { argument, .. } => {
                let piece = launch.arguments.get(*argument)?.pieces.first()?;
                let constant = self.scene.graph.values[piece.value.0].constant;
                Some(constant.map_or(Expression::Leaf(piece.value), Expression::Constant))
            }
            _ => None,
        });
        let Some(high_bytes) = high_bytes else {
            return tokens.fail("the array's size is not known");
        };
        Ok(PointerRange {
            launch: id,
            operand: Operand::Argument {
                argument: position,
                offset_bytes: 0,
                bits: 64,
                signed: false,
            },
            low_bytes: Expression::Constant(0),
            high_bytes,
        })
    }

    fn comparison(&mut self, tokens: &mut Tokens<'_>) -> Syntax<Guard> {
        let left = self.expression(tokens)?;
        let is_equal = tokens.take("==");
        if !is_equal {
            tokens.expect("<=")?;
        }
        let right = self.expression(tokens)?;
        let (class, condition) = match is_equal {
            true => ("shape", Condition::Equal(left, right)),
            false => ("wrap", Condition::LessEqual(left, right)),
        };
        Ok(Guard::Holds {
            class: class.to_owned(),
            condition,
        })
    }

    /// Factors.
    fn expression(&mut self, tokens: &mut Tokens<'_>) -> Syntax<Expression<ValueId>> {
        let mut product = self.leaf(tokens)?;
        while tokens.take("*") {
            product = product.multiply(self.leaf(tokens)?);
        }
        Ok(product)
    }

    fn leaf(&mut self, tokens: &mut Tokens<'_>) -> Syntax<Expression<ValueId>> {
        if let Some(number) = tokens.take_number()? {
            return Ok(Expression::Constant(number));
        }
        Ok(Expression::Leaf(self.integer(tokens)?))
    }
}

/// The bytes of the elements that a kernel touches behind each argument.
fn element_bytes(kernel: &KernelModel) -> BTreeMap<usize, u32> {
    let accesses = kernel.accesses.iter();
    let bytes = accesses.filter_map(|access| match access.target {
        Target::Argument { argument, .. } => Some((argument, access.size_bytes)),
        _ => None,
    });
    bytes.collect()
}

fn argument(value: ValueId, bits: u32, pointer: Option<Pointer>) -> Argument {
    Argument {
        pieces: vec![ArgumentPiece {
            offset_bytes: 0,
            bits,
            value,
            pointer,
        }],
        identity: Some(value),
    }
}
