//! What `ptxas -v` says of kernels.

use crate::schedule::occupancy::KernelUsage;
use std::collections::BTreeMap;

/// Reads the figures of each kernel out of what ptxas wrote; the second part is the rest, such as
/// warnings. A line that is not understood stays in the rest.
pub(super) fn read(said: &str) -> (BTreeMap<String, KernelUsage>, String) {
    let mut usage: BTreeMap<String, KernelUsage> = BTreeMap::new();
    let mut rest = String::new();
    // The kernel that figures are of, and the function that properties are of.
    let (mut kernel, mut function) = (None, None);
    for line in said.lines() {
        let information = line
            .strip_prefix("ptxas info")
            .and_then(|line| line.split_once(':'));
        let text = information.map_or(line, |(_, text)| text).trim();
        if let Some(name) = text.strip_prefix("Compiling entry function '") {
            kernel = name.split('\'').next().map(str::to_owned);
        } else if let Some(name) = text.strip_prefix("Function properties for ") {
            function = Some(name.trim().to_owned());
        } else if text.contains("bytes stack frame") {
            // Functions that are called have properties, too: a kernel's own count.
            if let Some(kernel) = kernel
                .as_ref()
                .filter(|kernel| Some(*kernel) == function.as_ref())
            {
                let kernel = usage.entry(kernel.clone()).or_default();
                for (number, what) in figures(text) {
                    match what {
                        "bytes stack frame" => kernel.stack_bytes = number,
                        "bytes spill stores" => kernel.spill_store_bytes = number,
                        "bytes spill loads" => kernel.spill_load_bytes = number,
                        _ => {}
                    }
                }
            }
            continue;
        } else if let Some(text) = text.strip_prefix("Used ")
            && let Some(kernel) = &kernel
        {
            let kernel = usage.entry(kernel.clone()).or_default();
            for (number, what) in figures(text) {
                match what {
                    "registers" => kernel.registers = number,
                    "bytes smem" => kernel.shared_bytes = number,
                    _ => {}
                }
            }
            let barriers = text.split(", used ").nth(1);
            let barriers = barriers.and_then(|text| text.split(' ').next()?.parse().ok());
            kernel.barriers = barriers.unwrap_or(0);
        }
        if information.is_none() && !line.trim().is_empty() {
            rest.push_str(line);
            rest.push('\n');
        }
    }
    (usage, rest)
}

/// `10 registers, 400 bytes smem` as numbers and what they count.
fn figures(text: &str) -> impl Iterator<Item = (u32, &str)> {
    text.split(',').filter_map(|part| {
        let (number, what) = part.trim().split_once(' ')?;
        Some((number.parse().ok()?, what))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_warnings_stay() {
        let said = "ptxas info    : 0 bytes gmem\n\
            ptxas warning : something odd\n\
            ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'\n\
            ptxas info    : Function properties for helper\n    \
            64 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n\
            ptxas info    : Function properties for _Z1kPf\n    \
            16 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads\n\
            ptxas info    : Used 32 registers, used 2 barriers, 16 bytes cumulative stack size, 400 bytes smem, 380 bytes cmem[0]\n\
            ptxas info    : Compile time = 3.1 ms\n\
            ptxas info    : Compiling entry function 'plain' for 'sm_80'\n\
            ptxas info    : Function properties for plain\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers, 360 bytes cmem[0]\n";
        let (usage, rest) = read(said);
        assert_eq!(rest, "ptxas warning : something odd\n");
        let kernel = KernelUsage {
            registers: 32,
            spill_store_bytes: 24,
            spill_load_bytes: 40,
            stack_bytes: 16,
            shared_bytes: 400,
            barriers: 2,
        };
        assert_eq!(usage["_Z1kPf"], kernel);
        let plain = KernelUsage {
            registers: 8,
            ..KernelUsage::default()
        };
        assert_eq!(usage["plain"], plain);
    }
}
