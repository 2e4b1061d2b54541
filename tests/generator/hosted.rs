//! Chains of launches over memory that the host has in its own hands: managed and mapped allocations that host code
//! reads and writes after waiting in one of several ways or in a function that the stream calls, launches by a function of
//! the runtime, planes that are copied and set, streams that wait for the default one and it for them, and streams of
//! which the run says whether they are captured into a graph.
//!
//! Invariant: the host touches memory only after it has waited for all launches, or where a stream calls it in order
//! with them, so that each program has one result.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// What the host does in the order of a stream.
pub const CALLED: &str = r"
template <typename T> static void CUDART_CB count_up(void *at) { *(T *)at += (T)1; }
";

impl Case<'_> {
    /// Launches of the kernels of [`super::mixed`], each mostly reads what the one before wrote.
    pub fn hosted(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let columns = self.pick(&["32", "64", "48", "16 * (1 + (int)(mix >> 5 & 3))"]);
        let rows = self.pick(&["16", "32", "16 * (1 + (int)(mix >> 7 & 1))"]);
        let _ = writeln!(
            text,
            "    int columns = {columns}, rows = {rows}, all = rows * columns;"
        );
        let own = self.pick(&[2, 3, 3, 4]);
        for buffer in 0..own {
            let call = self.pick(&[
                "cudaMallocManaged(&own#, ELEMENTS * sizeof *own#)",
                "cudaMallocManaged(&own#, ELEMENTS * sizeof *own#, cudaMemAttachGlobal)",
                "cudaMallocHost(&own#, ELEMENTS * sizeof *own#)",
                "cudaHostAlloc(&own#, ELEMENTS * sizeof *own#, cudaHostAllocMapped)",
            ]);
            let call = call.replace('#', &buffer.to_string());
            let _ = writeln!(
                text,
                "    {element} *own{buffer}; {call}; memcpy(own{buffer}, initial<{element}>({buffer}), ELEMENTS * sizeof({element}));"
            );
        }
        // Launches beside those of the host's memory have what only the device sees.
        let names: Vec<String> = (0..own).map(|buffer| format!("own{buffer}")).collect();
        let mut places = names.clone();
        places.push(scene.pointers[0].clone());
        let captured = self.chance(0.3);
        if captured {
            let whether = self.pick(&["mix >> 12 & 1", "mix >> 12 & 1", "repeat > 0", "true"]);
            let _ = writeln!(
                text,
                "    cudaStream_t stream; cudaStreamCreate(&stream);\n    bool captured = {whether};\n\
                 \x20   if (captured) cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);"
            );
        }
        // Work of the default stream and of streams that do not say otherwise is done in the order of the calls.
        let beside = !captured && self.chance(0.2);
        if beside {
            text.push_str("    cudaStream_t stream; cudaStreamCreate(&stream);\n");
        }
        let around = !captured && self.chance(0.25);
        if around {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
        }
        let streams: &[&str] = match (captured, beside) {
            (true, _) => &["stream"],
            (_, true) => &["stream", "0"],
            _ => &["0"],
        };
        let mut input = self.pick_name(&places);
        for _ in 0..self.pick(&[2, 3, 3, 4, 5, 6]) {
            let output = self.pick_name(&places);
            let stream = self.pick(streams);
            let kernel = self.hosted_launch(&output, &input, stream);
            let condition = match captured || !self.chance(0.08) {
                true => String::new(),
                false => {
                    let name = self.pick_name(&names);
                    let wait = self.waiting(beside);
                    format!("{wait} if ({name}[5] > ({element})300) ")
                }
            };
            let _ = writeln!(text, "    {condition}{kernel}");
            if self.chance(0.06) {
                let name = self.pick_name(&names);
                let _ = writeln!(
                    text,
                    "    cudaLaunchHostFunc({stream}, count_up<{element}>, {name} + 2);"
                );
            }
            if self.chance(0.12) {
                let line = self.device_call(&output, &self.another(&places, &output), stream);
                let _ = writeln!(text, "    {line}");
            }
            if !captured && self.chance(0.35) {
                let line = self.host_touch(&names, beside);
                let _ = writeln!(text, "    {line}");
            }
            input = match self.chance(0.85) {
                true => output,
                false => self.pick_name(&places),
            };
        }
        if around {
            text.push_str("    }\n");
        }
        if captured {
            text.push_str(
                "    if (captured) {\n    cudaGraph_t graph; cudaGraphExec_t ready;\n\
                 \x20   cudaStreamEndCapture(stream, &graph); cudaGraphInstantiate(&ready, graph, 0);\n\
                 \x20   for (int step = 0; step <= repeat; ++step) cudaGraphLaunch(ready, stream);\n\
                 \x20   cudaStreamSynchronize(stream); cudaGraphExecDestroy(ready); cudaGraphDestroy(graph);\n\
                 \x20   }\n    cudaStreamSynchronize(stream);\n",
            );
        }
        for name in &names {
            let _ = writeln!(text, "    show(\"case {} {name}\", {name});", self.number);
        }
        scene.budget = 0;
    }

    /// The first of some names that is not this one.
    fn another(&self, names: &[String], name: &str) -> String {
        let mut others = names.iter().filter(|other| *other != name);
        others.next().cloned().unwrap_or_default()
    }

    /// A launch in one of several spellings.
    fn hosted_launch(&mut self, out: &str, input: &str, stream: &str) -> String {
        let element = self.element;
        let threads = self.pick(&["64", "64", "128", "96"]);
        let (name, grid, block) = match self.pick(&[0, 0, 0, 1, 2, 3, 4]) {
            0 => (
                "on_line",
                format!("(all + {threads} - 1) / {threads}"),
                threads,
            ),
            1 => (
                "on_line_by_place",
                format!("(all + {threads} - 1) / {threads}"),
                threads,
            ),
            2 => ("on_line_by_steps", "3".to_owned(), threads),
            3 => (
                "on_plane",
                "dim3((columns + 15) / 16, rows / 16)".to_owned(),
                "dim3(16, 16)",
            ),
            _ => ("on_row", "rows".to_owned(), threads),
        };
        let scale = self.pick(&["2", "3"]);
        match self.pick(&[0, 0, 0, 1, 2]) {
            0 => format!(
                "{name}<{element}><<<{grid}, {block}, 0, {stream}>>>({out}, {input}, all, columns, ({element}){scale});"
            ),
            1 => format!(
                "{{ {element} *to = {out}; const {element} *from = {input}; {element} scale = ({element}){scale}; \
                 void *values[] = {{&to, &from, &all, &columns, &scale}}; \
                 cudaLaunchKernel((const void *){name}<{element}>, {grid}, {block}, values, 0, {stream}); }}"
            ),
            _ => format!(
                "{{ cudaLaunchConfig_t how = {{}}; how.gridDim = {grid}; how.blockDim = {block}; how.stream = {stream}; \
                 cudaLaunchKernelEx(&how, {name}<{element}>, {out}, (const {element} *){input}, all, columns, ({element}){scale}); }}"
            ),
        }
    }

    /// What the device does besides, in order with launches.
    fn device_call(&mut self, first: &str, second: &str, stream: &str) -> String {
        let element = self.element;
        let bytes = |count: usize| format!("{count} * sizeof({element})");
        match self.pick(&[0, 1, 2, 3]) {
            0 => format!(
                "cudaMemcpy2DAsync({first}, {}, {second}, {}, {}, 10, cudaMemcpyDefault, {stream});",
                bytes(40),
                bytes(24),
                bytes(16)
            ),
            1 => format!(
                "cudaMemset2DAsync({first}, {}, 1, {}, 9, {stream});",
                bytes(48),
                bytes(16)
            ),
            2 => format!(
                "cudaMemcpyAsync({first}, {second}, all * sizeof({element}), cudaMemcpyDefault, {stream});"
            ),
            _ => format!("cudaMemsetAsync({first} + 3, 1, {}, {stream});", bytes(29)),
        }
    }

    /// One of the ways in which the host waits for all that it has launched, on the default stream alone or not.
    fn waiting(&mut self, beside: bool) -> &'static str {
        if beside {
            return "cudaDeviceSynchronize();";
        }
        self.pick(&[
            "cudaDeviceSynchronize();",
            "cudaStreamSynchronize(0);",
            "{ cudaEvent_t event; cudaEventCreate(&event); cudaEventRecord(event); cudaEventSynchronize(event); cudaEventDestroy(event); }",
            "{ int *fresh; cudaMalloc(&fresh, 64); cudaFree(fresh); } cudaDeviceSynchronize();",
        ])
    }

    /// The host waits, and reads or writes.
    fn host_touch(&mut self, names: &[String], beside: bool) -> String {
        let element = self.element;
        let first = self.pick_name(names);
        let second = self.another(names, &first);
        let wait = self.waiting(beside);
        let number = self.pick(&["7", "11", "250"]);
        let touch = match self.pick(&[0, 0, 1, 1, 2, 3, 4, 5]) {
            0 => format!("printf(\"%g\\n\", (double){first}[mix % 64]);"),
            1 => format!("{first}[n & 31] = ({element}){number};"),
            2 => format!("for (int i = 0; i < 16; ++i) {first}[i] = {second}[i + 3];"),
            3 => format!("memset({first} + 7, 1, 9 * sizeof({element}));"),
            4 => format!("memcpy({first}, {second}, 40 * sizeof({element}));"),
            _ => format!("{first}[n & 63] += ({element})1;"),
        };
        format!("{{ {wait} {touch} }}")
    }
}
