//! Addresses as integers, and memory that was set to zero.

use super::*;

impl Numbering<'_> {
    /// The sum of an address that travels as an integer (`CUdeviceptr`) and a distance.
    pub(super) fn moved_address(
        &mut self,
        function: usize,
        at: usize,
        operation: Operation,
        operands: &[Symbol],
    ) -> Option<Symbol> {
        let facts = self.facts;
        let instruction = &facts.host.functions[function].instructions[at];
        let [first, second] = *operands else {
            return None;
        };
        if operation != Operation::Add || instruction.result != Type::Integer(64) {
            return None;
        }
        let points = |position: usize| {
            let operand = instruction.operands[position];
            !facts.points_to.of(facts.host, function, operand).is_empty()
        };
        let (base, distance) = match (points(0), points(1)) {
            (true, false) => (first, second),
            (false, true) => (second, first),
            _ => return None,
        };
        match self.literal(distance) {
            Some(bytes) => Some(self.offset(base, bytes)),
            None => {
                let parts = [base, distance];
                Some(self.derived(Definition::Displaced(base, distance), &parts))
            }
        }
    }

    /// The value that setting memory to zero left at a place that it covers.
    pub(super) fn cleared(
        &mut self,
        function: usize,
        writer: usize,
        address: Symbol,
        bytes: u64,
    ) -> Option<Symbol> {
        let instruction = &self.facts.host.functions[function].instructions[writer];
        let [
            destination,
            Operand::Integer { value: 0, .. },
            Operand::Integer { value: length, .. },
            ..,
        ] = instruction.operands[..]
        else {
            return None;
        };
        let destination = self.operand(function, destination, instruction.block);
        let within = self.distance(destination, address)?;
        let end = within.checked_add(i64::try_from(bytes).ok()?)?;
        let bits = u32::try_from(bytes * 8).ok().filter(|bits| *bits <= 64)?;
        let zero = Definition::Literal { bits, value: 0 };
        (within >= 0 && end <= length).then(|| self.intern(zero, None))
    }
}
