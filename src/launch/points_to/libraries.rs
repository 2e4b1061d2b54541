//! What functions of the C and C++ libraries do to pointers.

use super::*;
use calls::LibraryCall;
use std::collections::HashSet;

impl PointsTo {
    /// A call of a function that the table has, with what its arguments point to.
    pub(super) fn library_call(
        &mut self,
        host: &HostModule,
        function: usize,
        at: usize,
        library: &LibraryCall,
        arguments: &[Targets],
    ) {
        let instruction = &host.functions[function].instructions[at];
        let Opcode::Call {
            callee: Some(callee),
            ..
        } = instruction.opcode
        else {
            return;
        };
        let copies = is_memory_copy(&host.functions[callee].name);
        let argument = |position: usize| arguments.get(position).cloned().unwrap_or_default();
        let made = self.sites.get(&(function, at)).map(|object| Target {
            object: *object,
            offset: Offset::exact(0),
        });
        let made: Targets = made.into_iter().collect();
        if copies {
            let bytes = match instruction.operands.get(2) {
                Some(Operand::Integer { value, .. }) => Some(*value),
                _ => None,
            };
            self.copy_contents(&argument(0), &argument(1), bytes);
        } else if !library.numbers {
            let from = library.writes_from.unwrap_or(usize::MAX);
            for position in library.writes.iter().copied().chain(from..arguments.len()) {
                let targets = shift(&argument(position), Offset::ANY);
                self.store(&targets, &unknown(), 8);
                // An end pointer points into the text.
                let text = shift(&argument(0), Offset::ANY);
                self.store(&targets, &text, 8);
            }
        }
        if let Some(source) = library.copies {
            self.copy_contents(&made, &argument(source), None);
        }
        if let Some(string) = library.string {
            self.change_string(&argument(string), library.other_string.map(argument), &made);
        }
        let relinked = self.linked(
            arguments.iter().flatten().copied().collect(),
            library.relinks,
        );
        for cell in library.relinks {
            self.store(&shift(&relinked, Offset::exact(*cell)), &relinked, 8);
        }
        if library.gives_away {
            arguments.iter().for_each(|targets| self.escape(targets));
        }
        if library.error_number {
            self.add_value(function, at, self.error_number());
        } else if library.stream
            && library.returns_argument.is_none()
            && instruction.result == Type::Pointer
        {
            let stream = self.stream();
            self.add_value(function, at, stream);
            // `fgets` returns its buffer.
            self.add_value(function, at, argument(0));
        } else if library.allocates && library.string.is_none() {
            self.add_value(function, at, made);
        } else if let Some(position) = library.returns_argument {
            let targets = argument(position);
            self.add_value(function, at, targets.clone());
            if !copies {
                self.add_value(function, at, shift(&targets, Offset::ANY));
            }
        } else if !library.walks.is_empty() {
            let nodes = arguments.iter().flatten().copied().collect();
            let nodes = self.linked(nodes, library.walks);
            self.add_value(function, at, nodes);
        } else if instruction.result == Type::Pointer {
            self.add_value(function, at, unknown());
        }
    }

    /// The text of a string is in the string itself, new memory, or what another string had.
    fn change_string(&mut self, string: &Targets, other: Option<Targets>, made: &Targets) {
        let own = shift(string, Offset::exact(calls::STRING_BUFFER_OFFSET));
        let before = self.load(string, 8);
        self.store(string, &own, 8);
        self.store(string, made, 8);
        if let Some(other) = other {
            let its = shift(&other, Offset::exact(calls::STRING_BUFFER_OFFSET));
            let taken = self.load(&other, 8);
            self.store(string, &taken, 8);
            self.store(&other, &its, 8);
            self.store(&other, &before, 8);
        }
    }

    /// The places `nodes`, and all that the pointers at `links` bytes behind such places lead to.
    pub fn linked(&self, nodes: Targets, links: &[i64]) -> Targets {
        if links.is_empty() {
            return Targets::new();
        }
        let mut open: Vec<Target> = nodes.iter().copied().collect();
        let mut nodes: HashSet<Target> = nodes.into_iter().collect();
        // Of an object of which all places are one, so are all links.
        let mut looked_at = HashSet::new();
        while let Some(node) = open.pop() {
            for link in links {
                let place = self.merging.rename(Target {
                    object: node.object,
                    offset: node.offset.plus(Offset::exact(*link)),
                });
                if !looked_at.insert((place.object, place.offset)) {
                    continue;
                }
                self.see_loaded(place, 8, |next| {
                    if nodes.insert(next) {
                        open.push(next);
                    }
                });
            }
        }
        nodes.into_iter().collect()
    }
}
