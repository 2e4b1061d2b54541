//! Calls through pointers: virtual methods, tables of functions, callbacks.
//!
//! Invariant: a function whose address has escaped, or whose name is seen outside, may be called with anything; one that is
//! reached through pointers of the module alone gets what these calls hand it. A pointer of which no set of
//! functions is found in the end counts as unknown.

use super::*;

/// What the analysis needs of all calls before it looks at one.
#[derive(Debug)]
pub(super) struct Calls {
    /// Functions that come to the runtime, by themselves or through others.
    reach_the_runtime: Vec<bool>,
    /// Calls through pointers that lead to no function as far as is known are of unknown ones.
    others_are_unknown: bool,
}

impl Calls {
    pub(super) fn of(host: &HostModule) -> Self {
        Self {
            reach_the_runtime: functions_that_reach_the_runtime(host),
            others_are_unknown: false,
        }
    }
}

impl PointsTo {
    /// A call at `place` (function and instruction) of what `through` leads to. Of a virtual method, each receiver is
    /// handed to its own only.
    pub(super) fn call_through(
        &mut self,
        host: &HostModule,
        place: (usize, usize),
        through: Operand,
        mut arguments: Vec<Targets>,
        stubs: &[String],
    ) {
        let Some((position, distance)) = receiver(host, place, through) else {
            let through = self.of(host, place.0, through);
            return self.call_functions(host, place, &through, &arguments, stubs);
        };
        for target in std::mem::take(&mut arguments[position]) {
            let object = Targets::from([target]);
            let tables = shift(&self.load(&object, 8), Offset::exact(distance));
            let methods = self.load(&tables, 8);
            self.count_cells(&tables);
            arguments[position] = object;
            self.call_functions(host, place, &methods, &arguments, stubs);
        }
    }

    /// The functions of each call through a pointer (function and instruction) that leads to functions of the module
    /// alone.
    pub fn calls_through_pointers(
        &self,
        host: &HostModule,
        stubs: &[String],
    ) -> HashMap<(usize, usize), Vec<usize>> {
        let mut found = HashMap::new();
        for (index, function) in host.functions.iter().enumerate() {
            if !is_analysed(function, stubs) {
                continue;
            }
            for (at, instruction) in function.instructions.iter().enumerate() {
                if let Opcode::Call {
                    callee: None,
                    through,
                    ..
                } = &instruction.opcode
                {
                    let through = through.unwrap_or(Operand::Undefined);
                    let led_to = self.of(host, index, through);
                    let (called, unknown_too) = self.functions_among(host, &led_to, stubs);
                    if !led_to.is_empty() && !unknown_too {
                        found.insert((index, at), called);
                    }
                }
            }
        }
        found
    }

    /// The module's own functions, stubs of kernels among them, that a call through a pointer at `place` (function and
    /// instruction) may be of, and whether it may be of others.
    pub fn callees(
        &self,
        host: &HostModule,
        (function, at): (usize, usize),
        stubs: &[String],
    ) -> (Vec<usize>, bool) {
        let body = &host.functions[function];
        let Opcode::Call {
            through: Some(through),
            ..
        } = body.instructions[at].opcode
        else {
            return (Vec::new(), true);
        };
        let led_to = self.of(host, function, through);
        let is_stub = |target: &Target| match self.objects[target.object].kind {
            ObjectKind::Function(callee) if stubs.contains(&host.functions[callee].name) => {
                Some(callee)
            }
            _ => None,
        };
        let others = led_to.iter().filter(|target| is_stub(target).is_none());
        let (mut called, others_too) =
            self.functions_among(host, &others.copied().collect(), stubs);
        called.extend(led_to.iter().filter_map(is_stub));
        called.sort_unstable();
        called.dedup();
        let is_unknown = led_to.is_empty() || !is_analysed(body, stubs);
        (called, others_too || is_unknown)
    }

    fn call_functions(
        &mut self,
        host: &HostModule,
        (function, at): (usize, usize),
        through: &Targets,
        arguments: &[Targets],
        stubs: &[String],
    ) {
        let (called, mut unknown_too) = self.functions_among(host, through, stubs);
        unknown_too |= through.is_empty() && self.calls.others_are_unknown;
        if unknown_too {
            arguments.iter().for_each(|targets| self.escape(targets));
            self.add_value(function, at, unknown());
        }
        for callee in called {
            for (position, targets) in arguments.iter().enumerate() {
                match self.parameters[callee].get(position) {
                    Some(_) => self.add_parameter(callee, position, targets.clone()),
                    None => self.escape(targets),
                }
            }
            self.progress.reads_return(callee);
            let targets = self.returns[callee].clone();
            self.add_value(function, at, targets);
        }
    }

    /// The module's own functions among these places, and whether there may be others.
    fn functions_among(
        &self,
        host: &HostModule,
        through: &Targets,
        stubs: &[String],
    ) -> (Vec<usize>, bool) {
        let mut called = Vec::new();
        let mut unknown_too = through.iter().any(|target| target.object == UNKNOWN);
        for target in through {
            let ObjectKind::Function(callee) = self.objects[target.object].kind else {
                // Data is not called.
                continue;
            };
            match &host.functions[callee] {
                never if NEVER_RETURN.contains(&never.name.as_str()) => {}
                known if is_analysed(known, stubs) => called.push(callee),
                _ => unknown_too = true,
            }
        }
        (called, unknown_too)
    }

    /// What outside callers do through a function that never comes to the runtime, they can do
    /// without it: escaped memory is theirs in any case.
    pub(super) fn take_calls_from_outside(&mut self, host: &HostModule) {
        for (index, function) in host.functions.iter().enumerate() {
            let called_from_outside = !function.internal || self.is_function_escaped(index);
            if called_from_outside && self.calls.reach_the_runtime[index] {
                // The first one of `main` is a count.
                let known = usize::from(function.name == "main");
                for position in known..function.parameters.len() {
                    self.add_parameter(index, position, unknown());
                }
            }
        }
    }

    /// From now on calls through pointers that lead nowhere are of unknown functions; false: they were before.
    pub(super) fn take_others_for_unknown(&mut self) -> bool {
        self.progress.everything_changed();
        !std::mem::replace(&mut self.calls.others_are_unknown, true)
    }

    /// Code outside the module is told where these functions are.
    pub(super) fn escape_functions(&mut self, targets: &Targets) {
        let is_function =
            |target: &&Target| matches!(self.objects[target.object].kind, ObjectKind::Function(_));
        let functions: Targets = targets.iter().filter(is_function).copied().collect();
        self.escape(&functions);
    }

    /// Whether code outside the module may have the function's address.
    pub fn is_function_escaped(&self, function: usize) -> bool {
        let Some(object) = self.functions.get(&function) else {
            return false;
        };
        self.progress.reads_object(*object);
        self.objects[*object].escaped
    }
}

/// Of a call through a table that an argument begins with the place of: which argument, and how far into the table.
fn receiver(
    host: &HostModule,
    (function, at): (usize, usize),
    through: Operand,
) -> Option<(usize, i64)> {
    let instructions = &host.functions[function].instructions;
    let loaded_from = |operand: Operand| {
        let Operand::Instruction(load) = operand else {
            return None;
        };
        let load = &instructions[load];
        matches!(load.opcode, Opcode::Load { .. }).then(|| load.operands[0])
    };
    let mut entry = loaded_from(through)?;
    let mut distance = 0;
    if let Operand::Instruction(address) = entry
        && let Opcode::Address {
            constant, scales, ..
        } = &instructions[address].opcode
    {
        if !scales.is_empty() {
            return None;
        }
        (entry, distance) = (instructions[address].operands[0], *constant);
    }
    let object = loaded_from(entry)?;
    let mut arguments = instructions[at].operands.iter();
    Some((
        arguments.position(|argument| *argument == object)?,
        distance,
    ))
}

/// Where a call of a purely virtual or deleted method ends.
const NEVER_RETURN: [&str; 2] = ["__cxa_pure_virtual", "__cxa_deleted_virtual"];

/// Functions that call the runtime, by themselves, through others or, for all that is known, through pointers.
fn functions_that_reach_the_runtime(host: &HostModule) -> Vec<bool> {
    let mut reached: Vec<bool> = host
        .functions
        .iter()
        .map(|function| calls::is_cuda(&function.name) || calls::is_device_library(&function.name))
        .collect();
    loop {
        let mut grew = false;
        for (index, function) in host.functions.iter().enumerate() {
            let calls_one = |instruction: &Instruction| match instruction.opcode {
                Opcode::Call { callee, .. } => callee.is_none_or(|callee| reached[callee]),
                _ => false,
            };
            if !reached[index] && function.instructions.iter().any(calls_one) {
                reached[index] = true;
                grew = true;
            }
        }
        if !grew {
            return reached;
        }
    }
}
