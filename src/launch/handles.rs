//! Which kernels are launched by handles (`CUfunction`, pointers to stubs) that are kept in memory.
//!
//! Invariant: a launch is said to be of a kernel only if its handle is what the call that asked for the
//! handle of that kernel's stub wrote, or the stub's address; its arguments are said to be in a buffer of
//! so many bytes only if the list at the launch says so.

use super::cfg::ControlFlow;
use super::host_ir::{HostModule, Opcode, Operand as HostOperand};
use super::host_reader;
use super::memory::HostMemory;
use super::points_to::{self, PointsTo, is_analysed};
use super::values::{Definition, Facts, Numbering, Symbol, moved};
use crate::program::{
    ATTRIBUTE_COUNT_OFFSET, DeviceVariable, FoundLaunch, HandleLaunch, HostVisibleMemory, Kernel,
    Passing, Program, ProgramError, handle_launch,
};

/// Rounds of folding: arguments of one launch may lead to the handle of another.
const ROUNDS: usize = 3;

/// Folds the launches of `program` whose kernel stands in memory or behind a handle.
///
/// # Errors
/// [`ProgramError::Pass`] when LLVM refuses a pipeline.
pub fn fold_launches_by_handles(program: &Program<'_>) -> Result<(), ProgramError> {
    for _ in 0..ROUNDS {
        let found = find(program);
        if found.is_empty() || program.fold_handles(&found)? == 0 {
            break;
        }
    }
    Ok(())
}

/// `CU_LAUNCH_PARAM_END`, `CU_LAUNCH_PARAM_BUFFER_POINTER`, `CU_LAUNCH_PARAM_BUFFER_SIZE`.
const END: i64 = 0;
const BUFFER_POINTER: i64 = 1;
const BUFFER_SIZE: i64 = 2;

fn find(program: &Program<'_>) -> Vec<FoundLaunch> {
    let host = host_reader::read_host_module(&program.host, program.closed);
    let stubs = stubs(&program.kernels);
    // Stubs launch by handles, too: those launches stand where the stubs are called.
    let calls = handle_calls(&host).into_iter().enumerate();
    let calls = calls.filter(|(_, call)| is_analysed(&host.functions[call.function], &stubs));
    let calls: Vec<(usize, HandleCall)> = calls.collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let (points_to, stubs) = points_to(program.into(), &host);
    let memory = HostMemory::new(&host, &points_to, &stubs);
    let facts = Facts {
        host: &host,
        points_to: &points_to,
        memory: &memory,
        stubs: &stubs,
    };
    let mut reader = Reader {
        facts,
        numbering: Numbering::new(facts),
    };
    let mut numbered = None;
    let mut found = Vec::new();
    for (ordinal, call) in calls {
        if numbered != Some(call.function) {
            let flow = ControlFlow::new(&host.functions[call.function]);
            if flow.irreducible {
                continue;
            }
            reader.numbering.add_function(call.function, flow, 0);
            numbered = Some(call.function);
        }
        if let Some((stub, passing)) = reader.launch(&call) {
            found.push(FoundLaunch {
                ordinal,
                stub,
                passing,
            });
        }
    }
    found
}

/// What the analysis of pointers takes of a program besides its host module.
#[derive(Clone, Copy)]
pub(super) struct DeviceSide<'a> {
    pub(super) kernels: &'a [Kernel],
    pub(super) variables: &'a [DeviceVariable],
    /// Memory of the host that kernels may write.
    pub(super) host_visible_memory: HostVisibleMemory,
}

impl<'a> From<&'a Program<'_>> for DeviceSide<'a> {
    fn from(program: &'a Program<'_>) -> Self {
        Self {
            kernels: &program.kernels,
            variables: &program.variables,
            host_visible_memory: program.host_visible_memory,
        }
    }
}

/// What pointers of a program lead to, and the names of its stubs.
pub(super) fn points_to(device: DeviceSide<'_>, host: &HostModule) -> (PointsTo, Vec<String>) {
    let stubs = stubs(device.kernels);
    let shadows: Vec<(String, usize, bool)> = device
        .variables
        .iter()
        .enumerate()
        .map(|(index, variable)| (variable.shadow.clone(), index, variable.managed))
        .collect();
    let surroundings = points_to::Surroundings {
        variables: &shadows,
        stubs: &stubs,
        host_visible_memory: device.host_visible_memory,
    };
    let points_to = PointsTo::solve(host, surroundings);
    (points_to, stubs)
}

fn stubs(kernels: &[Kernel]) -> Vec<String> {
    let stubs = kernels.iter().map(|kernel| kernel.stub.clone());
    stubs.collect()
}

/// A call of a function that launches by a handle.
struct HandleCall {
    function: usize,
    at: usize,
    launch: &'static HandleLaunch,
}

fn handle_calls(host: &HostModule) -> Vec<HandleCall> {
    let mut calls = Vec::new();
    for (function, body) in host.functions.iter().enumerate() {
        for (at, instruction) in body.instructions.iter().enumerate() {
            let Opcode::Call {
                callee: Some(callee),
                ..
            } = &instruction.opcode
            else {
                continue;
            };
            if let Some(launch) = handle_launch(&host.functions[*callee].name) {
                calls.push(HandleCall {
                    function,
                    at,
                    launch,
                });
            }
        }
    }
    calls
}

struct Reader<'a> {
    facts: Facts<'a>,
    numbering: Numbering<'a>,
}

impl Reader<'_> {
    /// The stub of a call's kernel, and how its arguments are passed.
    fn launch(&mut self, call: &HandleCall) -> Option<(String, Passing)> {
        let host = self.facts.host;
        let kernel = self.operand(call, call.launch.kernel)?;
        let kernel = match *self.numbering.definition(kernel) {
            Definition::Handle(kernel) => kernel,
            _ => kernel,
        };
        let Definition::Function(stub) = *self.numbering.definition(kernel) else {
            return None;
        };
        let stub = &host.functions[stub].name;
        if !self.facts.stubs.contains(stub) {
            return None;
        }
        if let Some(structure) = call.launch.configuration
            && self.loaded(call, structure, ATTRIBUTE_COUNT_OFFSET, 4)? != 0
        {
            return None;
        }
        Some((stub.clone(), self.passing(call)?))
    }

    fn passing(&mut self, call: &HandleCall) -> Option<Passing> {
        let literal = |reader: &mut Self, position: usize| {
            let symbol = reader.operand(call, position)?;
            Some(reader.numbering.literal(symbol))
        };
        let no_array = literal(self, call.launch.arguments)? == Some(0);
        let extra = match call.launch.extra {
            Some(extra) if literal(self, extra)? != Some(0) => extra,
            _ if no_array => return Some(Passing::Nothing),
            _ => return Some(Passing::Addresses),
        };
        if !no_array {
            return None;
        }
        let key = |reader: &mut Self, element: i64| reader.loaded(call, extra, 8 * element, 8);
        let (element, size) = match (key(self, 0)?, key(self, 2)?) {
            (BUFFER_POINTER, BUFFER_SIZE) => (1, 3),
            (BUFFER_SIZE, BUFFER_POINTER) => (3, 1),
            _ => return None,
        };
        if key(self, 4)? != END {
            return None;
        }
        let list = self.targets(call, extra)?;
        let place = moved(&list, 8 * size);
        let address = self.operand(call, extra)?;
        let address = self.numbering.offset(address, 8 * size);
        let pointer = self
            .numbering
            .load_before(call.function, call.at, address, &place, 8);
        let pointed = self.facts.points_to.read(&place, 8);
        if self.facts.points_to.any_kernel_visible(&pointed) {
            return None;
        }
        let bytes = self
            .numbering
            .load_before(call.function, call.at, pointer, &pointed, 8);
        let bytes = u64::try_from(self.numbering.literal(bytes)?).ok()?;
        Some(Passing::Buffer { element, bytes })
    }

    /// The constant that stands `offset` bytes behind where an operand points.
    fn loaded(
        &mut self,
        call: &HandleCall,
        position: usize,
        offset: i64,
        bytes: u64,
    ) -> Option<i64> {
        let targets = moved(&self.targets(call, position)?, offset);
        if self.facts.points_to.any_kernel_visible(&targets) {
            return None;
        }
        let address = self.operand(call, position)?;
        let address = self.numbering.offset(address, offset);
        let symbol = self
            .numbering
            .load_before(call.function, call.at, address, &targets, bytes);
        self.numbering.literal(symbol)
    }

    fn operand(&mut self, call: &HandleCall, position: usize) -> Option<Symbol> {
        let (operand, block) = self.raw(call, position)?;
        Some(self.numbering.operand(call.function, operand, block))
    }

    fn targets(&self, call: &HandleCall, position: usize) -> Option<points_to::Targets> {
        let (operand, _) = self.raw(call, position)?;
        let facts = self.facts;
        Some(facts.points_to.of(facts.host, call.function, operand))
    }

    fn raw(&self, call: &HandleCall, position: usize) -> Option<(HostOperand, usize)> {
        let instruction = &self.facts.host.functions[call.function].instructions[call.at];
        let operand = *instruction.operands.get(position)?;
        Some((operand, instruction.block))
    }
}
