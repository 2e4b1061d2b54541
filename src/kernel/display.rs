//! Kernel models as text: what `--sirius-dump=kernel` shows and what filetests compare.

use super::{
    Access, AccessKind, Footprint, Hazard, KernelModel, KernelSymbol, LocalDependence, Quotient,
    Target,
};
use crate::launch::BEHIND_POINTER;
use crate::math::affine::write_constraints;
use std::collections::BTreeSet;
use std::fmt;

impl fmt::Display for KernelSymbol {
    /// `gridDim.x`, `blockDim.y`, `arg2` (signed, at offset 0), `arg2.8:u16` (at byte 8).
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GridSize(axis) => write!(formatter, "gridDim.{}", axis.name()),
            Self::BlockSize(axis) => write!(formatter, "blockDim.{}", axis.name()),
            Self::Argument {
                argument,
                offset_bytes,
                bits,
                signed,
            } => {
                write!(formatter, "arg{argument}")?;
                if *offset_bytes != 0 {
                    write!(formatter, ".{offset_bytes}")?;
                }
                if (*bits, *signed) != (32, true) {
                    write!(formatter, ":{}{bits}", if *signed { "s" } else { "u" })?;
                }
                Ok(())
            }
            Self::Opaque(index) => write!(formatter, "opaque{index}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument {
                argument,
                offset_bytes: 0,
            } => write!(formatter, "arg{argument}"),
            Self::Argument {
                argument,
                offset_bytes,
            } => match offset_bytes.checked_sub(BEHIND_POINTER) {
                Some(distance) => write!(formatter, "arg{argument}->{distance}"),
                None => write!(formatter, "arg{argument}.{offset_bytes}"),
            },
            Self::Global(name) => write!(formatter, "@{name}"),
            Self::Shared(name) => write!(formatter, "shared @{name}"),
            Self::Unknown => formatter.write_str("anywhere"),
            Self::UnknownShared => formatter.write_str("shared anywhere"),
        }
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Reduction(reduction) => return write!(formatter, "reduction ({reduction})"),
            Self::Atomic => "atomic",
        })
    }
}

impl fmt::Display for Access {
    /// `must read arg0[4q0 + 4tx .. +4] : p1 - q0 - tx - 1 >= 0`; `may` when not exact.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let certainty = if self.exact { "must" } else { "may" };
        write!(formatter, "{certainty} {} {}", self.kind, self.target)?;
        match &self.subscript {
            Some(subscript) => write!(formatter, "[{subscript} .. +{}]", self.size_bytes)?,
            None => formatter.write_str("[*]")?,
        }
        formatter.write_str(" : ")?;
        write_constraints(formatter, &self.domain)?;
        if !self.loops.is_empty() {
            let loops: Vec<_> = self.loops.iter().map(|index| format!("i{index}")).collect();
            write!(formatter, " in {}", loops.join(","))?;
        }
        if self.invariant_load {
            formatter.write_str(" invariant")?;
        }
        if self.volatile {
            formatter.write_str(" volatile")?;
        }
        if self.asynchronous {
            formatter.write_str(" asynchronous")?;
        }
        if !self.why_inexact.is_empty() {
            write!(formatter, " ({})", self.why_inexact)?;
        }
        Ok(())
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.written { "writes" } else { "reads" };
        write!(formatter, "{verb} {} within [", self.target)?;
        match &self.low_bytes {
            Some(low) => write!(formatter, "{low}")?,
            None => formatter.write_str("?")?,
        }
        formatter.write_str(", ")?;
        match &self.high_bytes {
            Some(high) => write!(formatter, "{high}")?,
            None => formatter.write_str("?")?,
        }
        formatter.write_str(")")?;
        if let Some(columns) = &self.columns {
            let (low, high) = (&columns.low_bytes, &columns.high_bytes);
            write!(
                formatter,
                ", columns [{low}, {high}) of rows of {}",
                columns.pitch_bytes
            )?;
        }
        Ok(())
    }
}

fn list(numbers: &BTreeSet<usize>) -> String {
    let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
    numbers.join(",")
}

impl fmt::Display for LocalDependence {
    /// `flow from access 1 to access 2 across barrier 0`; `anti … in one interval`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hazard = match self.hazard {
            Hazard::Flow => "flow",
            Hazard::Anti => "anti",
            Hazard::Output => "output",
        };
        let (source, sink) = (self.source.0, self.sink.0);
        write!(formatter, "{hazard} from access {source} to access {sink} ")?;
        match self.barrier {
            Some(barrier) => write!(formatter, "across barrier {barrier}"),
            None => formatter.write_str("in one interval"),
        }
    }
}

impl fmt::Display for KernelModel {
    /// One line for each thing that the model says, in a fixed order.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "kernel {}", self.display_name)?;
        for (index, parameter) in self.parameters.iter().enumerate() {
            writeln!(formatter, "  p{index} = {parameter}")?;
        }
        for (index, product) in self.products.iter().enumerate() {
            writeln!(
                formatter,
                "  q{index} = ({}) * p{}",
                product.factor, product.parameter
            )?;
        }
        // Nothing smaller holds a pointer.
        let kept = self.formals.iter().enumerate();
        for (argument, _) in kept.filter(|(_, formal)| formal.captured && formal.size_bytes >= 8) {
            writeln!(formatter, "  may keep arg{argument}")?;
        }
        for (index, each) in self.loops.iter().enumerate() {
            if let Some(Quotient { dividend, divisor }) = &each.quotient {
                writeln!(
                    formatter,
                    "  quotient i{index} = ({dividend}) / ({divisor})"
                )?;
                continue;
            }
            write!(formatter, "  loop i{index}")?;
            if let Some(parent) = each.parent {
                write!(formatter, " in i{parent}")?;
            }
            let uniform = if each.uniform_in_block {
                "uniform"
            } else {
                "divergent"
            };
            writeln!(formatter, " {uniform}")?;
        }
        for access in &self.accesses {
            write!(formatter, "  {access}")?;
            if let Some(span) = self.intervals.accesses.get(access.id.0)
                && !self.barriers.is_empty()
            {
                write!(formatter, " in interval {}", list(&span.intervals))?;
            }
            writeln!(formatter)?;
        }
        for barrier in &self.barriers {
            let uniform = if barrier.uniform {
                "uniform"
            } else {
                "divergent"
            };
            write!(formatter, "  barrier {uniform}")?;
            if !barrier.uniform_while_unwritten.is_empty() {
                let targets = barrier.uniform_while_unwritten.iter();
                let targets: Vec<String> = targets.map(Target::to_string).collect();
                write!(formatter, ", uniform while unwritten {}", targets.join(","))?;
            }
            for condition in &barrier.reached_if {
                write!(formatter, ", uniform if {condition}")?;
            }
            if !barrier.loops.is_empty() {
                let loops: Vec<_> = barrier.loops.iter().map(|at| format!("i{at}")).collect();
                write!(formatter, " in {}", loops.join(","))?;
            }
            writeln!(formatter)?;
        }
        for missed in &self.missed_by_lanes {
            write!(formatter, "  lanes may wait in vain")?;
            for condition in &missed.reached_if {
                write!(formatter, ", not if {condition}")?;
            }
            writeln!(formatter)?;
        }
        if !self.barriers.is_empty() {
            // Threads that only an index tells apart which the kernel never reads are left out.
            let extents = self.distinguishes_threads.map(|told| (!told).then_some(1));
            for each in self.local_dependences(extents) {
                writeln!(formatter, "  {each}")?;
            }
        }
        for exchange in &self.exchanges {
            let may = if exchange.known { "" } else { "may " };
            let (write, other) = (exchange.write.0, exchange.other.0);
            writeln!(
                formatter,
                "  lanes {may}exchange what access {write} writes by access {other}"
            )?;
        }
        for footprint in &self.footprints {
            writeln!(formatter, "  {footprint}")?;
        }
        for condition in &self.preconditions {
            writeln!(formatter, "  requires {condition}")?;
        }
        for (reason, _) in &self.opaque {
            writeln!(formatter, "  opaque: {reason}")?;
        }
        for (reason, _) in &self.unfusable {
            writeln!(formatter, "  unfusable: {reason} ({})", reason.name())?;
        }
        if self.warp_operations {
            writeln!(formatter, "  warp operations")?;
        }
        if self.asynchronous_copies {
            writeln!(formatter, "  asynchronous copies")?;
        }
        if self.prints {
            writeln!(formatter, "  prints")?;
        }
        if self.static_shared_bytes > 0 {
            writeln!(
                formatter,
                "  static shared {} bytes",
                self.static_shared_bytes
            )?;
        }
        if self.dynamic_shared {
            writeln!(formatter, "  dynamic shared")?;
        }
        if let Some(threads) = self.max_threads {
            writeln!(formatter, "  at most {threads} threads")?;
        }
        Ok(())
    }
}
