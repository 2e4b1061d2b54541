//! What code that is not analysed, and kernels, can reach.

use super::*;

impl PointsTo {
    /// Where `errno` is.
    pub fn error_number(&self) -> Targets {
        Targets::from([Target {
            object: ERROR_NUMBER,
            offset: Offset::ANY,
        }])
    }

    /// A stream of the C library.
    pub(super) fn stream(&self) -> Targets {
        Targets::from([Target {
            object: STREAM,
            offset: Offset::ANY,
        }])
    }

    /// Code outside the module may reach the object by a pointer that it was given or that anyone may have.
    pub fn is_reached_by_others(&self, object: usize) -> bool {
        self.is_escaped(object) && (object != ERROR_NUMBER || self.objects[object].leaked)
    }

    /// Host code outside the module may have a pointer to memory that a kernel sees as well; memory of the module's
    /// own allocations only, or any.
    pub fn is_visible_outside(&self, only_allocated: bool) -> bool {
        let counts = |kind| matches!(kind, ObjectKind::Buffer(_)) || !only_allocated;
        let mut objects = self.objects.iter();
        objects.any(|object| object.kernel_visible && object.leaked && counts(object.kind))
    }

    pub(super) fn escape(&mut self, targets: &Targets) {
        for target in targets {
            let place = self.merged(target.object);
            let object = &mut self.objects[place];
            if !object.escaped || !object.leaked {
                object.escaped = true;
                object.leaked = true;
                self.changed = true;
                self.progress.object_changed(place);
            }
        }
    }

    /// What a kernel gets as a plain argument.
    pub(super) fn give_to_kernel(&mut self, targets: &Targets) {
        for target in targets {
            let object = self.merged(target.object);
            if !self.objects[object].escaped {
                self.objects[object].escaped = true;
                self.changed = true;
                self.progress.object_changed(object);
            }
        }
    }

    /// What is stored in an object is where that is.
    pub(super) fn follow(&mut self, object: usize, stored: &Targets) {
        let place = self.merged(object);
        if object == UNKNOWN || self.objects[place].leaked {
            self.escape(stored);
        } else if self.objects[place].escaped {
            self.give_to_kernel(stored);
        }
    }

    pub(super) fn escape_contents(&mut self, targets: &Targets) {
        for target in targets {
            let object = self.merged(target.object);
            self.progress.reads_object(object);
            let contents: Vec<Targets> = self.contents[object].values().cloned().collect();
            contents.iter().for_each(|targets| self.escape(targets));
        }
    }

    /// What a kernel is given through an array of addresses of its arguments, or through a list that
    /// names a parameter buffer.
    pub(super) fn given_to_kernel(&self, list: &Targets) -> Targets {
        let slots = self.load(&shift(list, Offset::ANY), 8);
        self.load(&shift(&slots, Offset::ANY), 8)
    }

    /// A device variable may be found by its name.
    pub(super) fn escape_variables(&mut self) {
        let variables = (0..self.objects.len())
            .filter(|object| matches!(self.objects[*object].kind, ObjectKind::Variable(_)))
            .map(|object| Target {
                object,
                offset: Offset::ANY,
            })
            .collect();
        self.escape(&variables);
    }

    pub(super) fn spread_escape(&mut self) {
        let mut work: Vec<usize> = (0..self.objects.len())
            .filter(|object| self.objects[*object].escaped)
            .collect();
        while let Some(object) = work.pop() {
            let leaked = self.objects[object].leaked;
            let contents: Vec<Targets> = self.contents[object].values().cloned().collect();
            for target in contents.into_iter().flatten() {
                let reached = &mut self.objects[target.object];
                if !reached.escaped || leaked && !reached.leaked {
                    reached.escaped = true;
                    reached.leaked |= leaked;
                    self.changed = true;
                    self.progress.object_changed(target.object);
                    work.push(target.object);
                }
            }
        }
    }

    pub(super) fn mark_kernel_visible(
        &mut self,
        host: &HostModule,
        surroundings: Surroundings<'_>,
    ) {
        let anywhere_in = |object: &usize| Target {
            object: *object,
            offset: Offset::ANY,
        };
        let mut roots: Targets = self.managed.values().map(anywhere_in).collect();
        if surroundings.host_visible_memory == HostVisibleMemory::Anything {
            roots.extend(unknown());
        }
        for (index, function) in host.functions.iter().enumerate() {
            if !is_analysed(function, surroundings.stubs) {
                continue;
            }
            for instruction in &function.instructions {
                let Opcode::Call {
                    callee: Some(callee),
                    by_value,
                    ..
                } = &instruction.opcode
                else {
                    continue;
                };
                let name = host.functions[*callee].name.as_str();
                let folded = name.starts_with(calls::FOLDED_LAUNCH);
                let runtime = calls::runtime_call(name);
                if let Some(RuntimeCall {
                    action: Action::Launch { arguments },
                    ..
                }) = runtime
                {
                    for position in arguments {
                        let list = instruction.operands.get(*position);
                        let list = list.map(|list| self.of(host, index, *list));
                        roots.extend(self.given_to_kernel(&list.unwrap_or_default()));
                    }
                } else if folded || name.starts_with("cudaLaunch") || name.starts_with("cuLaunch") {
                    let skip = if folded { calls::FOLDED_LAUNCH_HEAD } else { 0 };
                    for (position, operand) in instruction.operands.iter().enumerate().skip(skip) {
                        let targets = self.of(host, index, *operand);
                        if by_value.iter().any(|(argument, _)| *argument == position) {
                            roots.extend(self.load(&targets, 1 << 20));
                        } else {
                            roots.extend(targets);
                        }
                    }
                }
                // A function of which nothing is known may give a kernel what it is given.
                if runtime.is_none() && !folded && calls::is_cuda(name) {
                    let operands = instruction.operands.iter();
                    let given = operands.flat_map(|operand| self.of(host, index, *operand));
                    let given: Targets = given.collect();
                    roots.extend(self.load(&shift(&given, Offset::ANY), 8));
                    roots.extend(given);
                }
                // What is copied to the device may hold pointers that a kernel follows.
                let copied = match runtime.map(|call| call.action) {
                    Some(Action::Copy { source, .. }) => Some(source),
                    Some(Action::SymbolCopy {
                        other,
                        to_symbol: true,
                        ..
                    }) => Some(other),
                    _ => None,
                };
                if let Some(source) = copied {
                    let source = self.of(host, index, instruction.operands[source]);
                    let anywhere = shift(&source, Offset::ANY);
                    roots.extend(self.load(&anywhere, 8));
                }
            }
        }
        let mut work: Vec<usize> = roots.iter().map(|target| target.object).collect();
        let mut seen = BTreeSet::new();
        while let Some(object) = work.pop() {
            // Pointers of unknown origin come from the runtime or a library; without memory that
            // both sides see they are device memory.
            let visible = surroundings.host_visible_memory;
            if object == UNKNOWN && visible == HostVisibleMemory::Nothing {
                continue;
            }
            if !seen.insert(object) {
                continue;
            }
            self.objects[object].kernel_visible = self.objects[object].kind.is_seen_by_host();
            work.extend(
                self.contents[object]
                    .values()
                    .flatten()
                    .map(|target| target.object),
            );
            if object == UNKNOWN {
                // And where all such memory is the runtime's, they do not lead to the host's own.
                let may_be = |object: &Object| {
                    let is_buffer = matches!(object.kind, ObjectKind::Buffer(_));
                    // Nobody gives a kernel what libraries keep for themselves.
                    let is_library = match object.kind {
                        ObjectKind::ErrorNumber => !object.leaked,
                        kind => kind == ObjectKind::Stream,
                    };
                    let is_any = visible == HostVisibleMemory::Anything && !is_library;
                    object.escaped && (is_buffer || is_any)
                };
                work.extend(
                    (0..self.objects.len()).filter(|object| may_be(&self.objects[*object])),
                );
            }
        }
        self.unknown_visible = seen.contains(&UNKNOWN)
            || self
                .objects
                .iter()
                .any(|object| object.kernel_visible && object.escaped);
    }
}
