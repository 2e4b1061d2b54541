//! What is assumed of devices.

use crate::build::{Build, Device};

/// Figures of a device that a cost model uses. They rank variants, and say nothing of how long a
/// program takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Its name.
    pub name: &'static str,
    /// Its compute capability, as `80` for 8.0, whose limits count.
    pub capability: u32,
    /// Multiprocessors.
    pub multiprocessors: u64,
    /// Bytes a nanosecond from memory, where many are asked for.
    pub bytes_per_nanosecond: f64,
    /// So many bytes come at half that rate: a launch of fewer does not fill the pipes of memory.
    pub half_rate_bytes: f64,
    /// Instructions of a thread a nanosecond, in all multiprocessors together.
    pub instructions_per_nanosecond: f64,
    /// Instructions that take as long as it takes to move 32 bits to shared memory or from there.
    pub instructions_of_shared_word: f64,
    /// From the end of a kernel to the begin of the next one.
    pub launch_nanoseconds: f64,
    /// A load that is waited for.
    pub load_nanoseconds: f64,
    /// A barrier of a block.
    pub barrier_nanoseconds: f64,
    /// A barrier of all blocks of a cooperative launch.
    pub grid_barrier_nanoseconds: f64,
    /// The same as a launch, where the kernel begins while the one before it still runs.
    pub overlapped_launch_nanoseconds: f64,
    /// From the end of a kernel to the begin of the next one in a graph.
    pub graph_node_nanoseconds: f64,
}

impl Figures {
    /// The device whose figures count for what a build makes for GPUs: the newest that is named, else an A100.
    pub fn of_gpu(build: &Build) -> &'static Self {
        let named = build.architectures.iter().map(|each| each.number).max();
        let named = named.filter(|_| build.architectures_named);
        Self::of(Device::Cuda, named.unwrap_or(USUAL_ARCHITECTURE))
    }

    /// Nanoseconds of so many bytes on the curve of memory's rate.
    pub(super) fn moving(&self, bytes: f64) -> f64 {
        match bytes > 0.0 {
            true => (bytes + self.half_rate_bytes) / self.bytes_per_nanosecond,
            false => 0.0,
        }
    }

    /// The device of a build, and for the CUDA device of an architecture (`80` for `sm_80`): the row of
    /// the newest device that is no newer, else the first row.
    pub fn of(device: Device, architecture: u32) -> &'static Self {
        if device == Device::Cpu {
            return &CPU_DEVICE;
        }
        let rows = DEVICES.iter().rev();
        let mut older = rows.filter(|row| row.capability <= architecture);
        older.next().unwrap_or(&DEVICES[0])
    }
}

const USUAL_ARCHITECTURE: u32 = 80;

/// Assumptions. Multiprocessors and peak rates of memory are those of NVIDIA's data sheets (V100 SXM2 2018,
/// T4 2018, A100 80 GB SXM 2021, L40S 2023, H100 SXM 2022, B200 2024), of which nine tenths are taken to be
/// reached; instructions are lanes for 32-bit numbers times the boost clock. A word of shared memory takes a lane for loads and stores,
/// of which there is one for two or four of these (tuning guides of each architecture). The rest is not on data
/// sheets: two microseconds between kernels that wait in one stream, half the rate at about what is under
/// way while one load waits (rate times 600 ns), doubled for starting and ending blocks. The costs of a barrier across
/// the grid and of a launch that overlaps are guesses that nobody has measured here. A node of a graph is guessed from our own
/// graphs of short kernels on an H200: 1.6 microseconds a node with its work (LSTM in docs/models.md), less some for that work.
static DEVICES: &[Figures] = &[
    row("V100", 70, 80, 810.0, 7_800.0, 2.0),
    row("T4", 75, 40, 288.0, 4_000.0, 4.0),
    row("A100", 80, 108, 1_835.0, 9_700.0, 2.0),
    row("A40", 86, 84, 626.0, 18_700.0, 4.0),
    row("L40S", 89, 142, 778.0, 45_800.0, 4.0),
    row("H100", 90, 132, 3_015.0, 33_400.0, 4.0),
    row("B200", 100, 148, 7_200.0, 37_000.0, 4.0),
];

const fn row(
    name: &'static str,
    capability: u32,
    multiprocessors: u64,
    bytes_per_nanosecond: f64,
    instructions_per_nanosecond: f64,
    instructions_of_shared_word: f64,
) -> Figures {
    Figures {
        name,
        capability,
        multiprocessors,
        bytes_per_nanosecond,
        half_rate_bytes: bytes_per_nanosecond * 1_200.0,
        instructions_per_nanosecond,
        instructions_of_shared_word,
        launch_nanoseconds: 2_000.0,
        load_nanoseconds: 600.0,
        barrier_nanoseconds: 30.0,
        grid_barrier_nanoseconds: 1_500.0,
        overlapped_launch_nanoseconds: 1_000.0,
        graph_node_nanoseconds: 1_300.0,
    }
}

/// Our own runtime on two cores, as it was timed: launches cost little, and every thread is a turn of a
/// loop.
static CPU_DEVICE: Figures = Figures {
    name: "cpu",
    capability: 80,
    multiprocessors: 1,
    bytes_per_nanosecond: 10.0,
    half_rate_bytes: 4_096.0,
    instructions_per_nanosecond: 4.0,
    instructions_of_shared_word: 1.0,
    launch_nanoseconds: 2_000.0,
    load_nanoseconds: 1.0,
    barrier_nanoseconds: 500.0,
    grid_barrier_nanoseconds: 500.0,
    overlapped_launch_nanoseconds: 2_000.0,
    graph_node_nanoseconds: 2_000.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_the_row_that_is_no_newer() {
        let name = |architecture| Figures::of(Device::Cuda, architecture).name;
        assert_eq!(
            [50, 70, 80, 87, 90, 120].map(name),
            ["V100", "V100", "A100", "A40", "H100", "B200"]
        );
        assert_eq!(Figures::of(Device::Cpu, 90).name, "cpu");
    }
}
