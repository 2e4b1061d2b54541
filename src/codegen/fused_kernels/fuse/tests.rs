use super::super::super::FusedParameter;
use super::*;
use crate::build::Device;
use crate::codegen::device::device_target_machine;
use crate::kernel::{Tables, model_kernels};
use crate::launch::{Argument, ArgumentPiece, Buffer, BufferId, MemoryKind, Node, NodeId};
use crate::launch::{HostBlockId, HostValue, Operand, Pointer, Root, Stream, ValueId};
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind};
use crate::llvm::{FUNCTION_ATTRIBUTES, Opcode, Value};
use crate::math::expression::Expression;
use crate::program::{DeviceVariable, Kernel, KernelId, Unit};
use crate::schedule::{FusionGroup, Member, ThreadMap, Variant};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use std::collections::BTreeMap;

const CASE: &str = include_str!("cases/chain.ll");

fn program(context: &Context) -> Program<'_> {
    let parse = || {
        let text = format!("{CASE}\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "chain.ll");
        context
            .create_module_from_ir(buffer)
            .expect("the case is valid IR")
    };
    let kernels = ["scale", "twice", "exchange", "sum", "follow", "watch"]
        .iter()
        .enumerate()
        .map(|(index, name)| Kernel {
            id: KernelId(index),
            name: (*name).to_owned(),
            unique_name: (*name).to_owned(),
            stub: format!("stub_{name}"),
            unit: 0,
            iteration_of: None,
            ended_threads_wait: false,
        })
        .collect();
    Program {
        bitcode: None,
        context,
        host: context.create_module("host"),
        units: vec![Unit {
            newer: Vec::new(),
            differing: std::collections::BTreeMap::new(),
            source: "chain.cu".into(),
            device: parse(),
            image_global: String::new(),
        }],
        operations: None,
        iterations: std::collections::BTreeMap::new(),
        analysis: parse(),
        kernels,
        variables: vec![DeviceVariable {
            name: "total".to_owned(),
            unique_name: "total".to_owned(),
            shadow: "total".to_owned(),
            unit: 0,
            bytes: 4,
            constant: false,
            managed: false,
        }],
        host_visible_memory: crate::program::HostVisibleMemory::Nothing,
        closed: false,
        mapping_function: None,
        graph_chains: Vec::new(),
        warnings: String::new(),
    }
}

/// A launch of kernel `kernel`; argument n is buffer b (`Ok(b)`) or value v (`Err(v)`).
fn launch(id: u32, kernel: usize, arguments: &[Result<usize, usize>]) -> Node {
    let arguments = arguments
        .iter()
        .map(|argument| {
            let (value, buffer) = match *argument {
                Ok(buffer) => (ValueId(buffer), Some(BufferId(buffer))),
                Err(value) => (ValueId(value), None),
            };
            Argument {
                pieces: vec![ArgumentPiece {
                    offset_bytes: 0,
                    bits: if buffer.is_some() { 64 } else { 32 },
                    value,
                    pointer: buffer.map(|buffer| Pointer {
                        root: Root::Buffer(buffer),
                        offset_bytes: None,
                        may_point_to: Some(vec![buffer]),
                        device_only: true,
                    }),
                }],
                identity: Some(value),
            }
        })
        .collect();
    let zero = ValueId(9);
    Node {
        id: NodeId(id as usize),
        kind: NodeKind::Launch(Launch {
            id: LaunchId(id),
            kernel: Some(KernelId(kernel)),
            grid: [zero; 3],
            block: [zero; 3],
            shared_bytes: zero,
            stream: Stream::Default,
            arguments,
            special: false,
        }),
        block: HostBlockId(0),
        location: Default::default(),
    }
}

fn graph(nodes: Vec<Node>) -> LaunchGraph {
    let buffer = |name: &str| Buffer {
        escapes: false,
        plain_call: None,
        stored_pointers: None,
        name: name.to_owned(),
        memory: MemoryKind::Device,
        unique: true,
        bytes: None,
        variable: None,
        location: Default::default(),
    };
    LaunchGraph {
        nodes,
        values: (0..10)
            .map(|_| HostValue {
                constant: None,
                holder: (LaunchId(0), Operand::Stream),
                varies_in: None,
            })
            .collect(),
        buffers: ["x", "y", "z"].map(buffer).into(),
        ..LaunchGraph::default()
    }
}

fn plan(barriers: &[bool]) -> FusionPlan {
    let members = barriers
        .iter()
        .enumerate()
        .map(|(index, barrier)| Member {
            launch: LaunchId(index as u32),
            map: ThreadMap::Identity,
            barrier_before: *barrier,
        })
        .collect();
    FusionPlan {
        groups: vec![FusionGroup {
            unread_afterwards: Vec::new(),
            awaited_copies: Vec::new(),
            issued_before: Vec::new(),
            partial_guards: Vec::new(),
            segments: Vec::new(),
            variant: Variant::default(),
            grid_barriers: Vec::new(),
            overlap: None,
            last_block: None,
            front_guards: None,
            early_guards: None,
            recomputation: None,
            fallback: Vec::new(),
            tested_loop: None,
            members,
            layout: "v".to_owned(),
            layouts: Vec::new(),
            guards: Vec::new(),
        }],
        ..FusionPlan::default()
    }
}

fn count(function: Value, opcode: Opcode) -> usize {
    function
        .instructions()
        .iter()
        .filter(|instruction| instruction.opcode() == Some(opcode))
        .count()
}

/// The kernels of a plan's groups.
fn built<'ctx>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    models: &[KernelModel],
    plan: &FusionPlan,
) -> (Module<'ctx>, Vec<FusedKernel>) {
    let all = Optimisation::ALL.into();
    let known = (plan, &BTreeMap::new());
    let made = Preparation::of(program, graph, models, known, &all)
        .and_then(|made| {
            build_kernels(
                program,
                &made,
                Part::Groups,
                models,
                (plan, &all, Figures::of(Device::Cuda, 80)),
            )
        })
        .expect("it can be built");
    (made.module, made.groups)
}

/// Fuses launches of one group and optimises the result as it is emitted.
fn fuse(nodes: Vec<Node>, barriers: &[bool], check: impl Fn(&Module, &FusedKernel, Value)) {
    let context = Context::create();
    let program = program(&context);
    let models = model_kernels(&program, &Tables::Unknown);
    let (module, fused) = built(&program, &graph(nodes), &models, &plan(barriers));
    device::optimise_device(&module, &device_target_machine("sm_80").unwrap()).unwrap();
    let function = Value::function(&module, &fused[0].name).expect("the kernel is there");
    check(&module, &fused[0], function);
}

#[test]
fn a_value_is_forwarded_through_equal_guards() {
    let nodes = vec![
        launch(0, 0, &[Ok(1), Ok(0), Err(5), Err(6)]),
        launch(1, 1, &[Ok(2), Ok(1), Err(6)]),
    ];
    fuse(nodes, &[false, false], |_, fused, function| {
        assert_eq!(count(function, Opcode::LLVMLoad), 1, "only x is loaded");
        assert_eq!(count(function, Opcode::LLVMStore), 2);
        assert_eq!(fused.parameters.len(), 5, "y and n are passed once");
        assert_eq!(fused.name, "sirius_fused_0_scale_twice");
        for (index, parameter) in fused.parameters.iter().enumerate() {
            let FusedParameter::Argument { argument, .. } = parameter else {
                panic!("no variable is used");
            };
            let pointer = function.parameters()[index].ty().is_pointer();
            assert_eq!(function.has_attribute(index as u32 + 1, "noalias"), pointer);
            assert!(*argument < 4);
        }
    });
}

#[test]
fn a_kernel_goes_without_what_its_variant_leaves_out() {
    let loads = |without: &[Optimisation]| {
        let context = Context::create();
        let program = program(&context);
        let models = model_kernels(&program, &Tables::Unknown);
        let nodes = vec![
            launch(0, 0, &[Ok(1), Ok(0), Err(5), Err(6)]),
            launch(1, 1, &[Ok(2), Ok(1), Err(6)]),
        ];
        let mut plan = plan(&[false, false]);
        plan.groups[0].variant.without = without.iter().copied().collect();
        let (module, fused) = built(&program, &graph(nodes), &models, &plan);
        let function = Value::function(&module, &fused[0].name).expect("the kernel is there");
        count(function, Opcode::LLVMLoad)
    };
    assert_eq!(loads(&[]), 1);
    assert_eq!(loads(&[Optimisation::StoreToLoadForwarding]), 2);
}

#[test]
fn restrict_does_not_outlive_its_segment() {
    // twice reads x under another value: it may be what scale writes.
    let mut nodes = vec![
        launch(0, 0, &[Ok(1), Ok(0), Err(5), Err(6)]),
        launch(1, 1, &[Ok(2), Ok(1), Err(6)]),
    ];
    let NodeKind::Launch(second) = &mut nodes[1].kind else {
        unreachable!()
    };
    second.arguments[1].identity = None;
    second.arguments[1].pieces[0].value = ValueId(8);
    fuse(nodes, &[false, false], |module, _, function| {
        let pointers: Vec<u32> = (1..=function.parameters().len() as u32)
            .filter(|position| function.has_attribute(*position, "noalias"))
            .collect();
        // Buffers x and z are unaliased; both names of y are not.
        assert_eq!(pointers.len(), 2);
        assert_eq!(
            count(function, Opcode::LLVMLoad),
            2,
            "y is read after the store"
        );
        let text = module.print_to_string().to_string();
        assert!(!text.contains("invariant.load"), "{text}");
    });
}

#[test]
fn barriers_stay_and_shared_memory_is_free_after_them() {
    let nodes = vec![launch(0, 2, &[Ok(1)]), launch(1, 2, &[Ok(1)])];
    fuse(nodes, &[false, true], |module, _, function| {
        assert_eq!(device::count_barriers(module).sites, 3);
        assert!(function.has_attribute(FUNCTION_ATTRIBUTES, "convergent"));
        let shared = Value::globals(module)
            .into_iter()
            .filter(|global| global.ty().address_space() == 3)
            .count();
        assert_eq!(shared, 1, "the barrier between the segments frees it");

        assert_eq!(
            count(function, Opcode::LLVMLoad),
            4,
            "nothing is kept across a barrier"
        );
    });
}

#[test]
fn device_variables_come_by_address() {
    let nodes = vec![launch(0, 3, &[Ok(1)]), launch(1, 3, &[Ok(2)])];
    fuse(nodes, &[false, false], |module, fused, _| {
        assert!(Value::global(module, "total").is_none());
        let variables = fused
            .parameters
            .iter()
            .filter(|parameter| {
                matches!(parameter, FusedParameter::VariableAddress { variable: 0 })
            })
            .count();
        assert_eq!(variables, 1);
    });
}

#[test]
fn a_block_that_the_guards_admit_can_be_launched() {
    let nodes = || {
        vec![
            launch(0, 0, &[Ok(1), Ok(0), Err(5), Err(6)]),
            launch(1, 2, &[Ok(1)]),
        ]
    };
    fuse(nodes(), &[false, true], |_, _, function| {
        // Without a limit, ptxas may use more registers than 1024 threads have.
        let limit = function.string_attribute("nvvm.maxntid");
        assert_eq!(limit.as_deref(), Some("1024"));
    });
}

#[test]
fn the_first_member_speaks_for_itself_only() {
    let nodes = vec![launch(0, 5, &[Ok(0)]), launch(1, 2, &[Ok(1)])];
    fuse(nodes, &[false, true], |_, _, function| {
        for attribute in ["memory", "nosync", "nofree"] {
            assert!(
                !function.has_attribute(FUNCTION_ATTRIBUTES, attribute),
                "{attribute}"
            );
        }
        assert_eq!(
            count(function, Opcode::LLVMStore),
            2,
            "the second member stores"
        );
    });
}

#[test]
fn a_table_of_variables_is_not_copied() {
    let nodes = vec![launch(0, 4, &[Ok(0)]), launch(1, 4, &[Ok(1)])];
    let context = Context::create();
    let program = program(&context);
    let models = model_kernels(&program, &Tables::Unknown);
    let (_, fused) = built(&program, &graph(nodes), &models, &plan(&[false, false]));
    assert!(fused.is_empty());
}

/// As [`fuse`], with a graph that knows more.
fn fuse_knowing(
    nodes: Vec<Node>,
    tell: impl Fn(&mut LaunchGraph),
    check: impl Fn(&FusedKernel, Value),
) {
    let context = Context::create();
    let program = program(&context);
    let models = model_kernels(&program, &Tables::Unknown);
    let mut graph = graph(nodes);
    tell(&mut graph);
    let plan = plan(&[false, false]);
    let (module, fused) = built(&program, &graph, &models, &plan);
    device::optimise_device(&module, &device_target_machine("sm_80").unwrap()).unwrap();
    let function = Value::function(&module, &fused[0].name).expect("the kernel is there");
    check(&fused[0], function);
}

#[test]
fn constants_of_the_host_are_constants_of_the_kernel() {
    let nodes = vec![
        launch(0, 0, &[Ok(1), Ok(0), Err(5), Err(6)]),
        launch(1, 1, &[Ok(2), Ok(1), Err(6)]),
    ];
    let tell = |graph: &mut LaunchGraph| {
        graph.values[6].constant = Some(1024);
        // The extents of all launches.
        let NodeKind::Launch(launch) = &graph.nodes[0].kind else {
            unreachable!()
        };
        let block = launch.block[0];
        graph.values[block.0].constant = Some(128);
    };
    fuse_knowing(nodes, tell, |fused, function| {
        assert_eq!(fused.parameters.len(), 4, "n is not passed");
        assert_eq!(function.parameters().len(), 4);
        assert_eq!(fused.name, function.name());
        let reads = |name: &str| {
            let instructions = function.instructions();
            let mut names = instructions.iter().filter_map(|at| at.called_name());
            names.any(|called| called.ends_with(name))
        };
        assert!(reads("sreg.tid.x") && !reads("sreg.ntid.x"));
        let compared = function.instructions().into_iter().any(|at| {
            let operands = || at.operands().into_iter();
            at.opcode() == Some(Opcode::LLVMICmp)
                && operands().any(|operand| operand.constant_integer() == Some(1024 / 128))
                && operands().any(|operand| operand.called_name().is_some())
        });
        assert!(
            compared,
            "whole blocks are below the bound, or none of their threads"
        );
    });
}

#[test]
fn pointers_into_one_allocation_share_a_base() {
    let nodes = vec![
        launch(0, 0, &[Ok(1), Ok(0), Err(5), Err(6)]),
        launch(1, 1, &[Ok(2), Ok(1), Err(6)]),
    ];
    // z lies 4096 bytes behind x in one allocation; where y lies in its own is not known.
    let tell = |unique: bool| {
        move |graph: &mut LaunchGraph| {
            graph.buffers[0].unique = unique;
            for node in &mut graph.nodes {
                let NodeKind::Launch(launch) = &mut node.kind else {
                    continue;
                };
                for piece in launch.arguments.iter_mut().flat_map(|a| &mut a.pieces) {
                    if let Some(pointer) = &mut piece.pointer
                        && pointer.root != Root::Buffer(BufferId(1))
                    {
                        let behind = pointer.root == Root::Buffer(BufferId(2));
                        let offset = if behind { 4096 } else { 0 };
                        pointer.offset_bytes = Some(Expression::Constant(offset));
                        pointer.root = Root::Buffer(BufferId(0));
                        pointer.may_point_to = Some(vec![BufferId(0)]);
                    }
                }
            }
        }
    };
    fuse_knowing(nodes.clone(), tell(true), |fused, function| {
        assert_eq!(fused.parameters.len(), 4, "z is computed from x");
        let text = function
            .instructions()
            .iter()
            .filter(|at| at.opcode() == Some(Opcode::LLVMGetElementPtr))
            .flat_map(|at| at.operands())
            .any(|operand| operand.constant_integer() == Some(4096));
        assert!(text, "the distance is a constant");
        assert_eq!(count(function, Opcode::LLVMStore), 2);
    });
    fuse_knowing(nodes, tell(false), |fused, _| {
        assert_eq!(
            fused.parameters.len(),
            5,
            "there may be several allocations"
        );
    });
}

/// Groups of a scale and a twice each; the n-th of them works on `n` as the host knows it.
fn pairs(known: &[Option<i64>]) -> (LaunchGraph, FusionPlan) {
    let mut nodes = Vec::new();
    let mut groups = Vec::new();
    for index in 0..known.len() {
        let first = 2 * index as u32;
        let count = 10 + index;
        nodes.push(launch(first, 0, &[Ok(1), Ok(0), Err(5), Err(count)]));
        nodes.push(launch(first + 1, 1, &[Ok(2), Ok(1), Err(count)]));
        let mut own = plan(&[false, false]).groups;
        for (member, id) in own[0].members.iter_mut().zip(first..) {
            member.launch = LaunchId(id);
        }
        groups.append(&mut own);
    }
    let mut graph = graph(nodes);
    for constant in known {
        graph.values.push(HostValue {
            constant: *constant,
            holder: (LaunchId(0), Operand::Stream),
            varies_in: None,
        });
    }
    let plan = FusionPlan {
        groups,
        ..FusionPlan::default()
    };
    (graph, plan)
}

/// The names of the kernels of such groups, and how many parameters each has.
fn kernels_of_pairs(known: &[Option<i64>]) -> Vec<(String, usize)> {
    let context = Context::create();
    let program = program(&context);
    let models = model_kernels(&program, &Tables::Unknown);
    let (graph, plan) = pairs(known);
    let (module, fused) = built(&program, &graph, &models, &plan);
    let launches: Vec<_> = fused
        .iter()
        .map(|kernel| match kernel.parameters[0] {
            FusedParameter::Argument { launch, .. } => launch.0 as usize / 2,
            _ => unreachable!("there are arguments only"),
        })
        .collect();
    assert_eq!(launches, (0..known.len()).collect::<Vec<_>>());
    let names: std::collections::HashSet<_> = fused.iter().map(|kernel| &kernel.name).collect();
    assert_eq!(names.len(), device::kernels(&module).len());
    for kernel in &fused {
        let function = Value::function(&module, &kernel.name).expect("the kernel is there");
        assert_eq!(function.parameters().len(), kernel.parameters.len());
    }
    fused
        .into_iter()
        .map(|kernel| (kernel.name, kernel.parameters.len()))
        .collect()
}

#[test]
fn equal_groups_share_a_kernel() {
    let made = kernels_of_pairs(&[None, None, Some(64), Some(64), Some(65)]);
    assert_eq!(made[0], made[1]);
    assert_eq!(made[0].1, 5);
    assert_eq!(made[2], made[3]);
    assert_eq!((made[2].1, made[4].1), (4, 4), "n is a constant");
    assert_ne!(made[0].0, made[2].0);
    assert_ne!(made[2].0, made[4].0);
}

#[test]
fn many_constants_make_one_kernel() {
    let constants: Vec<_> = (0..9).map(|count| Some(64 + count)).collect();
    let made = kernels_of_pairs(&constants);
    assert!(made.iter().all(|kernel| *kernel == made[0]), "{made:?}");
    assert_eq!(made[0].1, 5, "n is passed");
}

#[test]
fn the_last_block_runs_what_stands_behind() {
    let context = Context::create();
    let program = program(&context);
    let models = model_kernels(&program, &Tables::Unknown);
    let nodes = vec![
        launch(0, 0, &[Ok(1), Ok(0), Err(3), Err(4)]),
        launch(1, 1, &[Ok(2), Ok(1), Err(4)]),
    ];
    let mut plan = plan(&[false, false]);
    plan.groups[0].last_block = Some(1);
    let (module, fused) = built(&program, &graph(nodes), &models, &plan);
    let kernel = Value::function(&module, &fused[0].name).expect("the kernel is there");
    let parameters = fused[0].parameters.iter();
    let counters = parameters.filter(|each| **each == FusedParameter::ArrivalCounter);
    assert_eq!(counters.count(), 1);
    // All threads come to one place, whichever way they went.
    assert_eq!(count(kernel, Opcode::LLVMRet), 1);
    let all = kernel.instructions();
    let updates: Vec<&Value> = all
        .iter()
        .filter(|each| each.opcode() == Some(Opcode::LLVMAtomicRMW))
        .collect();
    let [update] = updates[..] else {
        panic!(
            "one thread of a block counts once, and not {}",
            updates.len()
        );
    };
    let block = update.block().instructions();
    let at = block.iter().position(|each| each == update);
    let at = at.expect("it is in its block");
    let is_fence = |each: &Value| each.called_name().as_deref() == Some("llvm.nvvm.membar.gl");
    assert!(block[..at].iter().any(is_fence), "a fence stands before");
    assert!(block[at..].iter().any(is_fence), "a fence stands behind");
    let called = |name: &str| {
        let calls = all.iter();
        let calls = calls.filter(|each| each.called_name().as_deref() == Some(name));
        calls.count()
    };
    assert_eq!(called(BLOCK_BARRIER), 1);
    assert_eq!(called("llvm.nvvm.barrier.cta.red.or.aligned.all"), 1);
    // What others have written is not promised to stay as it was.
    let loads = all
        .iter()
        .filter(|each| each.opcode() == Some(Opcode::LLVMLoad));
    assert!(loads.clone().count() > 0);
    assert!(
        !loads
            .clone()
            .any(|load| load.has_metadata("invariant.load"))
    );
    let parameters = 1..=kernel.parameters().len() as u32;
    assert!(
        !parameters
            .clone()
            .any(|at| kernel.has_attribute(at, "noalias"))
    );
    assert!(
        !parameters
            .clone()
            .any(|at| kernel.has_attribute(at, "readonly"))
    );
}
