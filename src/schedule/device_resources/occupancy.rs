//! How many warps of a kernel run at once on a multiprocessor.
//!
//! The table is that of the *CUDA C++ Programming Guide*, "Technical Specifications per Compute
//! Capability"; the rounding rules are those of the toolkit's `cuda_occupancy.h`, to which a test
//! compares them.

use serde::{Deserialize, Serialize};

/// What ptxas says of one kernel on one architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelUsage {
    /// Registers a thread.
    pub registers: u32,
    /// Bytes that a thread stores because registers ran out, as instructions stand in the code.
    pub spill_store_bytes: u32,
    /// Bytes that a thread loads again for the same reason.
    pub spill_load_bytes: u32,
    /// Bytes of a thread's stack frame in local memory.
    pub stack_bytes: u32,
    /// Static shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Hardware barriers of a block.
    pub barriers: u32,
}

impl KernelUsage {
    /// Bytes that go to local memory and come back because registers ran out.
    pub fn spill_bytes(&self) -> u32 {
        self.spill_store_bytes.saturating_add(self.spill_load_bytes)
    }
}

/// Limits of a compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// `80` for 8.0.
    pub number: u32,
    /// Most threads a multiprocessor.
    pub threads: u32,
    /// Most blocks a multiprocessor.
    pub blocks: u32,
    /// Registers a block.
    pub registers_per_block: u32,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_bytes: u32,
    /// Most shared memory of a block, in bytes: above 48 KiB it is dynamic and asked for
    /// (`cudaFuncAttributeMaxDynamicSharedMemorySize`).
    pub shared_bytes_per_block: u32,
}

impl Capability {
    /// The limits of `sm_<number>`; `None` for one that is not in the table.
    pub fn of(number: u32) -> Option<Self> {
        let found = CAPABILITIES.iter().find(|row| row[0] == number)?;
        let [
            number,
            threads,
            blocks,
            block_kilo_registers,
            shared,
            shared_of_block,
        ] = *found;
        Some(Self {
            number,
            threads,
            blocks,
            registers_per_block: block_kilo_registers << 10,
            shared_bytes: shared << 10,
            shared_bytes_per_block: shared_of_block << 10,
        })
    }

    /// Most warps a multiprocessor.
    pub fn warps(&self) -> u32 {
        self.threads / WARP
    }

    /// How many warps of a kernel run at once on a multiprocessor, when it is launched with
    /// `threads_per_block` threads a block and that much dynamic shared memory; 0 when it cannot be
    /// launched so.
    pub fn resident_warps(
        &self,
        usage: &KernelUsage,
        threads_per_block: u32,
        dynamic_shared_bytes: u64,
    ) -> u32 {
        let warps = threads_per_block.div_ceil(WARP);
        if warps == 0 || threads_per_block > MOST_THREADS_PER_BLOCK {
            return 0;
        }
        let by_warps = self.warps() / warps;
        let mut blocks = self.blocks.min(by_warps);
        blocks = blocks.min(self.blocks_by_registers(usage.registers, warps));
        blocks = blocks.min(self.blocks_by_shared(usage.shared_bytes, dynamic_shared_bytes));
        if self.number >= 90 && usage.barriers > 0 {
            blocks = blocks.min(self.barriers() / usage.barriers);
        }
        blocks * warps
    }

    fn blocks_by_registers(&self, registers: u32, warps: u32) -> u32 {
        if registers == 0 {
            return u32::MAX;
        }
        let of_warp = (registers * WARP).next_multiple_of(REGISTERS_UNIT);
        // The check at a launch takes the block's warps to be spread over all parts evenly.
        let assumed = of_warp * warps.next_multiple_of(self.parts());
        if registers > MOST_REGISTERS || assumed > self.registers_per_block {
            return 0;
        }
        (REGISTERS / self.parts() / of_warp * self.parts()) / warps
    }

    fn blocks_by_shared(&self, fixed: u32, dynamic: u64) -> u32 {
        let bytes = u64::from(fixed) + dynamic;
        if bytes > u64::from(self.shared_bytes_per_block) {
            return 0;
        }
        // From compute capability 8.0 on the driver keeps a kibibyte of each block for itself.
        let (unit, reserved) = match self.number >= 80 {
            true => (128, 1024),
            false => (256, 0),
        };
        match (bytes + reserved).next_multiple_of(unit) {
            0 => u32::MAX,
            bytes => u32::try_from(u64::from(self.shared_bytes) / bytes).unwrap_or(u32::MAX),
        }
    }

    /// Parts of a multiprocessor that have registers of their own.
    fn parts(&self) -> u32 {
        match self.number {
            60 => 2,
            _ => 4,
        }
    }

    /// Hardware barriers of a multiprocessor.
    fn barriers(&self) -> u32 {
        match self.number {
            80 | 90 | 100 | ..80 => self.blocks * 2,
            _ => self.blocks,
        }
    }
}

/// What a fused kernel may have on every device that is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Static and dynamic shared memory of a block, in bytes; what is above 48 KiB is dynamic, and
    /// asked for at the launch.
    pub shared_bytes: u64,
    /// Parameters, in bytes.
    pub parameter_bytes: u64,
}

impl Limits {
    /// What every device and toolkit has.
    pub const LEAST: Self = Self {
        shared_bytes: 48 << 10,
        parameter_bytes: 4096,
    };

    /// The limits for these architectures (`80` for `sm_80`) and a toolkit's version. Parameters are
    /// up to 32,764 bytes from `sm_70` and CUDA 12.1 on (CUDA 12.1 release notes, PTX 8.1).
    pub fn of(architectures: impl Iterator<Item = u32>, toolkit: (u32, u32)) -> Self {
        let mut limits: Option<Self> = None;
        for number in architectures {
            let capability = Capability::of(number);
            let shared_bytes = capability.map_or(Self::LEAST.shared_bytes, |capability| {
                u64::from(capability.shared_bytes_per_block)
            });
            let parameter_bytes = match number >= 70 && toolkit >= (12, 1) {
                true => 32_764,
                false => Self::LEAST.parameter_bytes,
            };
            let so_far = limits.unwrap_or(Self {
                shared_bytes,
                parameter_bytes,
            });
            limits = Some(Self {
                shared_bytes: so_far.shared_bytes.min(shared_bytes),
                parameter_bytes: so_far.parameter_bytes.min(parameter_bytes),
            });
        }
        limits.unwrap_or(Self::LEAST)
    }
}

const WARP: u32 = 32;
const MOST_THREADS_PER_BLOCK: u32 = 1024;
/// Registers of a multiprocessor.
const REGISTERS: u32 = 64 << 10;
/// Most registers a thread.
const MOST_REGISTERS: u32 = 255;
/// Registers are given to a warp in such steps.
const REGISTERS_UNIT: u32 = 256;

/// Compute capability; most threads and blocks a multiprocessor; registers a block in units of 1024;
/// KiB of shared memory of a multiprocessor and, with the opt-in, of a block.
const CAPABILITIES: [[u32; 6]; 20] = [
    [50, 2048, 32, 64, 64, 48],
    [52, 2048, 32, 64, 96, 48],
    [53, 2048, 32, 32, 64, 48],
    [60, 2048, 32, 64, 64, 48],
    [61, 2048, 32, 64, 96, 48],
    [62, 2048, 32, 32, 64, 48],
    [70, 2048, 32, 64, 96, 96],
    [72, 2048, 32, 64, 96, 96],
    [75, 1024, 16, 64, 64, 64],
    [80, 2048, 32, 64, 164, 163],
    [86, 1536, 16, 64, 100, 99],
    [87, 1536, 16, 64, 164, 163],
    // Not in the guide: the least of its generation.
    [88, 1536, 16, 64, 100, 99],
    [89, 1536, 24, 64, 100, 99],
    [90, 2048, 32, 64, 228, 227],
    [100, 2048, 32, 64, 228, 227],
    [103, 2048, 32, 64, 228, 227],
    [110, 1536, 24, 64, 228, 227],
    [120, 1536, 24, 64, 100, 99],
    [121, 1536, 24, 64, 100, 99],
];
