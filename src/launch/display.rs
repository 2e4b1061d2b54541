//! The launch graph as text, for dumps and tests: a line for each function, block, loop and node.

use super::*;
use std::fmt::{Display, Formatter, Result};

impl Display for LaunchGraph {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, buffer) in self.buffers.iter().enumerate() {
            write!(f, "buffer b{index} {} {:?}", buffer.name, buffer.memory)?;
            if let Some(bytes) = &buffer.bytes {
                write!(f, " bytes={}", Shown(bytes))?;
            }
            for stored in buffer.stored_pointers.iter().flatten() {
                write!(f, " holds {}", Shown(stored))?;
            }
            writeln!(f, "{}", if buffer.unique { " unique" } else { "" })?;
        }
        for (index, value) in self.values.iter().enumerate() {
            write!(f, "value v{index}")?;
            if let Some(constant) = value.constant {
                write!(f, " = {constant}")?;
            }
            if value.holder.0.0 != u32::MAX {
                write!(f, " from L{}.{}", value.holder.0.0, Shown(&value.holder.1))?;
            }
            match value.varies_in {
                Some(index) => writeln!(f, " varies in loop{index}")?,
                None => writeln!(f)?,
            }
        }
        for (value, closed) in &self.iterations.values {
            writeln!(f, "v{} is {}", value.0, Shown(closed))?;
        }
        for (value, course) in &self.iterations.courses {
            let places: Vec<String> = course
                .places
                .iter()
                .map(|place| {
                    let root = match place.root {
                        Root::Buffer(buffer) => format!("b{}", buffer.0),
                        Root::Value(value) => format!("*v{}", value.0),
                    };
                    format!("{root}+{}", Shown(&place.offset_bytes))
                })
                .collect();
            write!(f, "*v{} is {}", value.0, places.join(" then "))?;
            match course.turns_in {
                Some(index) => writeln!(f, " in turns of loop{index}")?,
                None => writeln!(f)?,
            }
        }
        for (index, natural) in self.loops.iter().enumerate() {
            write!(f, "loop{index} header=block{}", natural.header.0)?;
            if let Some(parent) = natural.parent {
                write!(f, " in loop{parent}")?;
            }
            if let Some(trip) = natural.trip {
                write!(f, " trip={trip}")?;
            }
            if let Some(counter) = self.iterations.counters.get(index) {
                write!(f, " counter=v{}", counter.0)?;
            }
            if let Some(Some(domain)) = self.iterations.domains.get(index) {
                let least = if domain.exact { "" } else { " at most" };
                let (passes, test) = (Shown(&domain.passes), domain.test.0);
                write!(f, " passes{least} {passes} at block{test}")?;
            }
            writeln!(f)?;
        }
        for (index, block) in self.blocks.iter().enumerate() {
            if let Some(function) = self
                .functions
                .iter()
                .find(|function| function.entry.0 == index)
            {
                let repeated = if function.repeated { " repeated" } else { "" };
                writeln!(f, "function {}{repeated}", function.name)?;
            }
            write!(f, "block{index}")?;
            if let Some(natural) = block.innermost_loop {
                write!(f, " in loop{natural}")?;
            }
            let successors: Vec<String> = block
                .successors
                .iter()
                .map(|successor| format!("block{}", successor.0))
                .collect();
            writeln!(f, " -> {}", successors.join(" "))?;
            for node in &block.nodes {
                let node = &self.nodes[node.0];
                write!(f, "  n{} {}", node.id.0, Shown(&node.kind))?;
                for value in self.iterations.touched.get(&node.id).into_iter().flatten() {
                    match value {
                        Some(value) => write!(f, " by v{}", value.0)?,
                        None => write!(f, " by a fixed pointer")?,
                    }
                }
                match node.location.line {
                    0 => writeln!(f)?,
                    line => writeln!(f, " @{line}")?,
                }
            }
        }
        Ok(())
    }
}

struct Shown<'a, T>(&'a T);

impl Display for Shown<'_, StoredPointer> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0.at_bytes {
            Some(at) => write!(f, "{at}:")?,
            None => write!(f, "?:")?,
        }
        match &self.0.may_point_to {
            Some(buffers) => {
                let buffers: Vec<String> = buffers.iter().map(|b| format!("b{}", b.0)).collect();
                write!(f, "{}", buffers.join("|"))?;
            }
            None => write!(f, "?")?,
        }
        match self.0.offset_bytes {
            Some(offset) => write!(f, "+{offset}"),
            None => write!(f, "+?"),
        }
    }
}

impl Display for Shown<'_, Operand> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Operand::Grid(axis) => write!(f, "grid{axis}"),
            Operand::Block(axis) => write!(f, "block{axis}"),
            Operand::SharedBytes => write!(f, "shared"),
            Operand::Stream => write!(f, "stream"),
            Operand::Argument {
                argument,
                offset_bytes,
                bits,
                signed,
            } => {
                let kind = if *signed { 's' } else { 'u' };
                match offset_bytes.checked_sub(BEHIND_POINTER) {
                    Some(distance) => write!(f, "argument{argument}->{distance}:{kind}{bits}"),
                    None => write!(f, "argument{argument}+{offset_bytes}:{kind}{bits}"),
                }
            }
        }
    }
}

impl Display for Shown<'_, Expression<ValueId>> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Expression::Constant(value) => write!(f, "{value}"),
            Expression::Leaf(value) => write!(f, "v{}", value.0),
            Expression::Add(a, b) => write!(f, "({} + {})", Shown(&**a), Shown(&**b)),
            Expression::Subtract(a, b) => write!(f, "({} - {})", Shown(&**a), Shown(&**b)),
            Expression::Multiply(a, b) => write!(f, "({} * {})", Shown(&**a), Shown(&**b)),
            Expression::FloorDivide(a, b) => write!(f, "({} / {})", Shown(&**a), Shown(&**b)),
            Expression::Minimum(a, b) => write!(f, "min({}, {})", Shown(&**a), Shown(&**b)),
            Expression::Maximum(a, b) => write!(f, "max({}, {})", Shown(&**a), Shown(&**b)),
        }
    }
}

impl Display for Shown<'_, Pointer> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.0.root {
            Root::Buffer(buffer) => write!(f, "b{}", buffer.0)?,
            Root::Value(value) => {
                write!(f, "*v{}", value.0)?;
                match &self.0.may_point_to {
                    Some(buffers) => {
                        let names: Vec<String> =
                            buffers.iter().map(|b| format!("b{}", b.0)).collect();
                        write!(f, "{{{}}}", names.join(","))?;
                    }
                    None => write!(f, "{{?}}")?,
                }
            }
        }
        match &self.0.offset_bytes {
            Some(Expression::Constant(0)) => {}
            Some(offset) => write!(f, "+{}", Shown(offset))?,
            None => write!(f, "+?")?,
        }
        if self.0.device_only {
            Ok(())
        } else {
            write!(f, " host?")
        }
    }
}

impl Display for Shown<'_, Stream> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Stream::Default => write!(f, "stream=default"),
            Stream::Handle(value) => write!(f, "stream=v{}", value.0),
            Stream::Unknown => write!(f, "stream=?"),
        }
    }
}

impl Display for Shown<'_, Touch> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", Shown(&self.0.pointer))?;
        match &self.0.bytes {
            Some(bytes) => write!(f, " bytes={}", Shown(bytes)),
            None => write!(f, " bytes=?"),
        }
    }
}

impl Display for Shown<'_, NodeKind> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            NodeKind::Launch(launch) => write!(f, "{}", Shown(launch)),
            NodeKind::Copy {
                reads,
                writes,
                stream,
                host_side,
                awaited_call,
                from_host: _,
            } => {
                write!(f, "copy {}", Shown(stream))?;
                for touch in reads {
                    write!(f, " reads {}", Shown(touch))?;
                }
                for touch in writes {
                    write!(f, " writes {}", Shown(touch))?;
                }
                write!(f, "{}", if *host_side { " host" } else { "" })?;
                write!(f, "{}", awaited_call.map_or("", |_| " waits"))
            }
            NodeKind::Library {
                reads,
                writes,
                stream,
                host_side,
                what,
            } => {
                write!(f, "library {what}")?;
                for touch in writes {
                    write!(f, " to {}", Shown(touch))?;
                }
                for touch in reads {
                    write!(f, " from {}", Shown(touch))?;
                }
                let side = if *host_side { " host" } else { "" };
                write!(f, " {}{side}", Shown(stream))
            }
            NodeKind::Set { writes, stream } => {
                write!(f, "set {} writes {}", Shown(stream), Shown(writes))
            }
            NodeKind::Allocation { buffer } => write!(f, "allocation b{}", buffer.0),
            NodeKind::Free {
                pointer: Some(pointer),
            } => write!(f, "free {}", Shown(pointer)),
            NodeKind::Free { pointer: None } => write!(f, "free"),
            NodeKind::Synchronise(Awaited::Device) => write!(f, "synchronise"),
            NodeKind::Synchronise(Awaited::Stream(stream)) => {
                write!(f, "synchronise {}", Shown(stream))
            }
            NodeKind::Synchronise(Awaited::Event) => write!(f, "synchronise event"),
            NodeKind::ErrorCheck => write!(f, "check"),
            NodeKind::Output { what } => write!(f, "output {what}"),
            NodeKind::StreamOperation => write!(f, "stream operation"),
            NodeKind::HostAccess { ordered: false } => write!(f, "host access"),
            NodeKind::HostAccess { ordered: true } => write!(f, "ordered host access"),
            NodeKind::MayThrow { what } => write!(f, "may throw {what}"),
            NodeKind::Opaque { what } => write!(f, "opaque {what}"),
        }
    }
}

impl Display for Shown<'_, Launch> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let launch = self.0;
        write!(f, "launch L{}", launch.id.0)?;
        match launch.kernel {
            Some(kernel) => write!(f, " kernel{}", kernel.0)?,
            None => write!(f, " unknown kernel")?,
        }
        let triple = |values: &[ValueId; 3]| values.map(|value| format!("v{}", value.0)).join(",");
        write!(
            f,
            " <<<({}),({}),v{},{}>>>(",
            triple(&launch.grid),
            triple(&launch.block),
            launch.shared_bytes.0,
            Shown(&launch.stream)
        )?;
        for (index, argument) in launch.arguments.iter().enumerate() {
            if index > 0 {
                write!(f, ", ")?;
            }
            let pieces: Vec<String> = argument
                .pieces
                .iter()
                .map(|piece| {
                    let at = match piece.offset_bytes {
                        0 => String::new(),
                        offset => match offset.checked_sub(BEHIND_POINTER) {
                            Some(distance) => format!("->{distance} "),
                            None => format!("@{offset} "),
                        },
                    };
                    match &piece.pointer {
                        Some(pointer) => format!("{at}v{}={}", piece.value.0, Shown(pointer)),
                        None => format!("{at}v{}", piece.value.0),
                    }
                })
                .collect();
            match argument.identity {
                Some(_) => write!(f, "{}", pieces.join(" "))?,
                None => write!(f, "[{}]", pieces.join(" "))?,
            }
        }
        write!(f, ")")?;
        if launch.special {
            write!(f, " special")
        } else {
            Ok(())
        }
    }
}
