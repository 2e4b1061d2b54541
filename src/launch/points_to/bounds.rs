//! What keeps the analysis from running for ever: coarser sets after some rounds, copies that do
//! not multiply offsets, and a budget of work.
//!
//! Invariant: every bound only ever makes a set stand for more places, so that it costs precision
//! and never soundness.

use super::*;

/// Set elements that the solver looks at before it gives up.
pub(super) const WORK: usize = 40_000_000;

/// Rounds before sets widen. Each takes a pointer one call further down, where the module has the callee first,
/// and a creeping one (`p = p + 8` in a loop) to one more offset, of which a set soon has enough.
const PRECISE_ROUNDS: usize = 64;

/// Pairs of a place to copy from and one to copy to that a copy tells apart.
const PAIRS_PER_COPY: usize = 64;

/// How much a set, and the memory of an object, tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Offsets that a set keeps of one object before it gives up on telling them apart.
    pub(super) offsets_per_object: usize,
    /// Cells of an object before the others share one.
    pub(super) cells_per_object: usize,
    /// Host objects in a set before they become one.
    pub(super) objects_per_set: usize,
}

impl Limits {
    /// At first.
    pub(super) const PRECISE: Self = Self {
        offsets_per_object: 24,
        cells_per_object: 256,
        objects_per_set: 256,
    };

    /// Once sets do not come to rest in many rounds, or have cost a quarter of the budget.
    const COARSE: Self = Self {
        offsets_per_object: 2,
        cells_per_object: 8,
        objects_per_set: 32,
    };
}

impl PointsTo {
    /// Solves the constraints of `host`, or gives up after `work` set elements.
    pub(super) fn solve_within(
        host: &HostModule,
        surroundings: Surroundings<'_>,
        work: usize,
    ) -> Self {
        let mut solver = Self::initial(host, surroundings);
        for round in 0.. {
            solver.changed = false;
            if round == PRECISE_ROUNDS {
                solver.become_coarse();
            }
            solver.take_calls_from_outside(host);
            for (index, function) in host.functions.iter().enumerate() {
                if is_analysed(function, surroundings.stubs) && solver.progress.is_due(index) {
                    solver.progress.begin(index);
                    solver.function(host, index, surroundings.stubs);
                    solver.progress.end(index);
                }
                if solver.work > work / 4 {
                    solver.become_coarse();
                }
                if solver.work > work {
                    solver.give_up();
                    return solver;
                }
            }
            solver.rename_everywhere();
            solver.spread_escape();
            if !solver.changed && !solver.take_others_for_unknown() {
                break;
            }
        }
        #[cfg(test)]
        assert!(solver.is_at_rest(host, surroundings.stubs));
        solver.mark_kernel_visible(host, surroundings);
        solver
    }

    /// Whether no function, were it looked at again, would tell anything new.
    #[cfg(test)]
    fn is_at_rest(&mut self, host: &HostModule, stubs: &[String]) -> bool {
        self.changed = false;
        // What was kept is no witness for itself.
        self.loads.take();
        for (index, function) in host.functions.iter().enumerate() {
            if is_analysed(function, stubs) {
                self.function(host, index, stubs);
            }
        }
        !self.changed
    }

    fn become_coarse(&mut self) {
        if self.limits != Limits::COARSE {
            self.limits = Limits::COARSE;
            self.progress.everything_changed();
            self.merge_all_large();
        }
    }

    /// Every value may point anywhere, and everything is within reach of anyone.
    fn give_up(&mut self) {
        self.progress.everything_changed();
        self.values
            .iter_mut()
            .chain(&mut self.parameters)
            .flatten()
            .chain(&mut self.returns)
            .for_each(|targets| *targets = unknown());
        for cells in &mut self.contents {
            *cells = BTreeMap::from([(Offset::ANY, unknown())]);
        }
        for object in &mut self.objects {
            object.escaped = true;
            object.leaked = true;
            object.kernel_visible = object.kind.is_seen_by_host();
        }
        self.unknown_visible = true;
    }

    /// Counts what loading from `address` looks at.
    pub(super) fn count_cells(&mut self, address: &Targets) {
        let cells = |target: &Target| {
            let cells = &self.contents[self.merged(target.object)];
            cells.values().map(|cell| cell.len() + 1).sum::<usize>()
        };
        self.work += address.iter().map(cells).sum::<usize>();
    }

    /// `memcpy` of `bytes` bytes (`None`: any number).
    pub(super) fn copy_contents(
        &mut self,
        destination: &Targets,
        source: &Targets,
        bytes: Option<i64>,
    ) {
        let is_exact = |target: &Target| !target.offset.is_any();
        let (exact_sources, vague_sources): (Targets, Targets) =
            source.iter().copied().partition(is_exact);
        let (exact_destinations, vague_destinations): (Targets, Targets) =
            destination.iter().copied().partition(is_exact);
        if exact_sources.len() * exact_destinations.len() > PAIRS_PER_COPY {
            return self.copy_anywhere(destination, source);
        }
        // Where one side is vague, the pairs need not be looked at one by one.
        self.copy_anywhere(&vague_destinations, source);
        self.copy_anywhere(&exact_destinations, &vague_sources);
        for from in &exact_sources {
            for to in &exact_destinations {
                self.copy_cells(*from, *to, bytes);
            }
        }
    }

    /// A copy of everything in the objects of `source` to anywhere in those of `destination`.
    fn copy_anywhere(&mut self, destination: &Targets, source: &Targets) {
        if destination.is_empty() || source.is_empty() {
            return;
        }
        let anywhere = shift(source, Offset::ANY);
        self.count_cells(&anywhere);
        let moved = self.load(&anywhere, 8);
        self.store(&shift(destination, Offset::ANY), &moved, 8);
    }

    fn copy_cells(&mut self, from: Target, to: Target, bytes: Option<i64>) {
        self.progress.reads_object(self.merged(from.object));
        for (cell, targets) in self.contents[self.merged(from.object)].clone() {
            if targets.is_empty() {
                continue;
            }
            let bytes = bytes.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
            if !from.offset.meets(bytes, cell, Some(8)) {
                continue;
            }
            let moved = cell.minus(from.offset).plus(to.offset);
            self.add_content(to.object, moved, &targets);
            self.follow(to.object, &targets);
        }
        if self.is_escaped(from.object) {
            self.add_content(to.object, Offset::ANY, &unknown());
        }
    }
}

/// Adds targets; keeps what many offsets have in common instead of each. True when the set grew.
pub(super) fn insert(
    present: &mut Targets,
    targets: &Targets,
    limits: Limits,
    merging: &merging::Merging,
) -> bool {
    let mut grew = false;
    for target in targets {
        let target = &merging.rename(*target);
        if present.contains(target) {
            continue;
        }
        let at = |offset: Offset| Target {
            object: target.object,
            offset,
        };
        let others = present.in_object(target.object);
        let is_in = |other: &Target| other.offset.contains(target.offset);
        if others.iter().any(is_in) {
            continue;
        }
        grew = true;
        let all = others.iter().map(|other| other.offset);
        let added = match others.len() >= limits.offsets_per_object {
            true => at(all.fold(target.offset, Offset::join)),
            false => *target,
        };
        let held: Vec<Target> = others
            .iter()
            .filter(|other| added.offset.contains(other.offset))
            .copied()
            .collect();
        held.iter().for_each(|other| present.remove(other));
        present.insert(added);
    }
    grew
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::host_reader::read_host_module;
    use crate::launch::memory::Writes;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// Two slots that hold two heap blocks, and a pointer that creeps through the first.
    const TEXT: &str = "
        declare ptr @malloc(i64)
        define i32 @main(i1 %more) {
        entry:
          %a = alloca ptr
          %b = alloca ptr
          %p = call ptr @malloc(i64 800)
          %q = call ptr @malloc(i64 800)
          store ptr %p, ptr %a
          store ptr %q, ptr %b
          br label %loop
        loop:
          %at = phi ptr [ %p, %entry ], [ %next, %loop ]
          %next = getelementptr i8, ptr %at, i64 8
          br i1 %more, label %loop, label %end
        end:
          %first = load ptr, ptr %a
          %second = load ptr, ptr %b
          ret i32 0
        }\0";

    fn solved(work: usize) -> (PointsTo, HostModule) {
        solved_text(TEXT, work)
    }

    fn solved_text(text: &str, work: usize) -> (PointsTo, HostModule) {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "host");
        let module = context
            .create_module_from_ir(buffer)
            .expect("the case is valid IR");
        let host = read_host_module(&module, false);
        let surroundings = Surroundings {
            variables: &[],
            stubs: &[],
            host_visible_memory: HostVisibleMemory::Nothing,
        };
        (PointsTo::solve_within(&host, surroundings, work), host)
    }

    fn sets(host: &HostModule, points_to: &PointsTo, opcode: fn(&Opcode) -> bool) -> Vec<Targets> {
        let main = host
            .functions
            .iter()
            .position(|function| function.name == "main")
            .expect("the case has a main function");
        let instructions = host.functions[main].instructions.iter().enumerate();
        instructions
            .filter(|(_, instruction)| opcode(&instruction.opcode))
            .map(|(at, _)| points_to.of(host, main, Operand::Instruction(at)))
            .collect()
    }

    fn may_overlap(points_to: &PointsTo, a: &Targets, b: &Targets) -> bool {
        let mut writes = Writes::default();
        writes.add(a, Some(8));
        writes.may_touch(points_to, b, 8)
    }

    fn is_load(opcode: &Opcode) -> bool {
        matches!(opcode, Opcode::Load { .. })
    }

    #[test]
    fn a_spent_budget_leaves_everything_possible() {
        let (enough, host) = solved(WORK);
        let loaded = sets(&host, &enough, is_load);
        assert!(!may_overlap(&enough, &loaded[0], &loaded[1]));
        assert!(!enough.any_escaped(&loaded[0]) && !enough.any_kernel_visible(&loaded[0]));

        let (spent, host) = solved(0);
        let loaded = sets(&host, &spent, is_load);
        assert!(loaded.iter().all(|targets| *targets == unknown()));
        assert!(may_overlap(&spent, &loaded[0], &loaded[1]));
        for object in 1..spent.objects.len() {
            let precise = Targets::from([Target {
                object,
                offset: Offset::exact(0),
            }]);
            assert!(may_overlap(&spent, &loaded[0], &precise));
            assert!(spent.any_escaped(&precise));
            // What no kernel can see at all, such as a library's own streams, it cannot see then either.
            let is_seen = spent.objects[object].kind.is_seen_by_host();
            assert_eq!(spent.any_kernel_visible(&precise), is_seen);
            assert_eq!(spent.read(&precise, 8), unknown());
        }
    }

    /// Functions that hand each other records, link them and put them into a table.
    fn shuffling(functions: usize) -> String {
        let mut text = String::from(
            "declare ptr @malloc(i64)
             @table = internal global [64 x ptr] zeroinitializer\n",
        );
        for function in 0..functions {
            let other = function * 7 % functions;
            text.push_str(&format!(
                "define internal ptr @f{function}(ptr %a, ptr %b, i64 %n) {{
                   %new = call ptr @malloc(i64 64)
                   %link = getelementptr i8, ptr %a, i64 {offset}
                   store ptr %new, ptr %link
                   %slot = getelementptr ptr, ptr @table, i64 %n
                   %old = load ptr, ptr %slot
                   store ptr %b, ptr %slot
                   %next = load ptr, ptr %link
                   %more = call ptr @f{other}(ptr %old, ptr %next, i64 %n)
                   %back = getelementptr i8, ptr %more, i64 16
                   store ptr %a, ptr %back
                   %any = select i1 poison, ptr %more, ptr %old
                   ret ptr %any
                 }}\n",
                offset = function % 8 * 8,
            ));
        }
        text.push_str("define i32 @main() {\n");
        for function in 0..functions {
            text.push_str(&format!(
                "%o{function} = call ptr @malloc(i64 64)
                 %r{function} = call ptr @f{function}(ptr %o{function}, ptr null, i64 3)\n"
            ));
        }
        text + "ret i32 0\n}\0"
    }

    #[test]
    fn a_program_five_times_as_large_is_some_five_times_as_much_work() {
        let work = |functions: usize| {
            let (points_to, _) = solved_text(&shuffling(functions), WORK);
            assert!(points_to.work < WORK, "it gave up on {functions} functions");
            points_to.work
        };
        let (small, large) = (work(50), work(250));
        assert!(large < 10 * small, "{small} and {large}");
    }

    #[test]
    fn a_creeping_pointer_may_point_to_any_multiple_of_its_step_soon() {
        let (points_to, host) = solved(WORK);
        let creeping = sets(&host, &points_to, |opcode| {
            matches!(opcode, Opcode::Phi { .. })
        });
        assert_eq!(creeping[0].len(), 1);
        let apart = |target: &Target| target.offset == Offset::multiple(8);
        assert!(creeping[0].iter().all(apart));
        assert!(points_to.work < 4000, "{}", points_to.work);
    }
}
