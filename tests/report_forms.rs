//! The forms of a report say the same, and the JSON one what `docs/report.schema.json` says.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

fn analyse(source: &str, form: &str) -> String {
    analyse_with(source, form, &[])
}

fn analyse_with(source: &str, form: &str, options: &[&str]) -> String {
    let form = format!("--format={form}");
    told(source, &[&[form.as_str()], options].concat())
}

fn told(source: &str, options: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(["analyze", "--sirius-device=cpu", "-O2", source])
        .args(options)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{source}: {said}");
    String::from_utf8(output.stdout).expect("a report is text")
}

const SOURCES: [&str; 5] = [
    "tests/report/in_place.cu",
    "tests/report/maps.cu",
    "test_programs/jacobi_residual.cu",
    "test_programs/bert_qkv.cu",
    "test_programs/offset_alias.cu",
];

fn schema() -> Value {
    serde_json::from_str(include_str!("../docs/report.schema.json")).expect("the schema is JSON")
}

fn examples() -> Vec<Value> {
    let mut examples: Vec<Value> = SOURCES
        .iter()
        .map(|source| serde_json::from_str(&analyse(source, "json")).expect("a report is JSON"))
        .collect();
    let example = include_str!("report/example.json");
    examples.push(serde_json::from_str(example).expect("the example is JSON"));
    examples
}

/// What of `value` is not as a schema says, each with its place: the words that our schema uses.
fn mistakes(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let rules = schema.as_object().expect("a schema is an object");
    for (word, rule) in rules {
        match word.as_str() {
            "$ref" => {
                let pointer = rule.as_str().and_then(|rule| rule.strip_prefix('#'));
                let target = root.pointer(pointer.expect("a reference is local"));
                mistakes(
                    root,
                    target.expect("a reference leads to something"),
                    value,
                    place,
                    found,
                );
            }
            "type" => {
                let fits = match rule.as_str().expect("a type has a name") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    other => panic!("the schema says {other}"),
                };
                if !fits {
                    found.push(format!("{place} is no {rule}: {value}"));
                }
            }
            "enum" if !rule.as_array().is_some_and(|all| all.contains(value)) => {
                found.push(format!("{place} is none of {rule}: {value}"));
            }
            "const" if rule != value => found.push(format!("{place} is not {rule}: {value}")),
            "anyOf" => {
                let fits = rule.as_array().expect("a list").iter().any(|one| {
                    let mut found = Vec::new();
                    mistakes(root, one, value, place, &mut found);
                    found.is_empty()
                });
                if !fits {
                    found.push(format!("{place} is nothing that it may be: {value}"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    mistakes(root, rule, item, &format!("{place}[{index}]"), found);
                }
            }
            "required" => {
                for name in rule.as_array().into_iter().flatten() {
                    if value.get(name.as_str().expect("a name")).is_none() {
                        found.push(format!("{place} lacks {name}"));
                    }
                }
            }
            "properties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => {
                            mistakes(root, rule, member, &format!("{place}.{name}"), found);
                        }
                        None => found.push(format!("{place} has {name}, which is not described")),
                    }
                }
            }
            "enum"
            | "const"
            | "additionalProperties"
            | "deprecated"
            | "description"
            | "title"
            | "$schema"
            | "$defs" => {}
            other => panic!("the schema says {other}, which is not checked"),
        }
    }
}

#[test]
fn reports_are_what_the_schema_says() {
    let schema = schema();
    for report in examples() {
        let mut found = Vec::new();
        mistakes(&schema, &schema, &report, "report", &mut found);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

/// The report of a build of `tests/report/phases.cu`.
fn built(form: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join(format!("report.{form}"));
    let output = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(["--sirius-device=cpu", "-O2", "tests/report/phases.cu"])
        .args(["--sirius-boundaries=grid-barrier", "-o"])
        .arg(folder.path().join("program"))
        .arg(format!("--sirius-report={}", report.display()))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    std::fs::read_to_string(report).expect("a report is text")
}

#[test]
fn values_stay_in_shared_memory_where_that_takes_less_time() {
    let report: Value = serde_json::from_str(&built("json")).expect("a report is JSON");
    let (schema, mut found) = (schema(), Vec::new());
    mistakes(&schema, &schema, &report, "report", &mut found);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let handed_on = report["handed_on"].as_array().expect("values are there");
    let [short, long] = &handed_on[..] else {
        panic!("{handed_on:?}");
    };
    let time = |of: &Value, what: &str| of[what].as_f64().expect("a time is there");
    for (of, buffer, kept) in [(short, "y", true), (long, "z", false)] {
        assert_eq!(of["buffer"], buffer);
        assert_eq!(of["loads"], 2);
        assert_eq!(of["kept"], kept, "{of}");
        assert_eq!(time(of, "with") < time(of, "without"), kept, "{of}");
    }
    let text = built("txt");
    for line in [
        "`y` of tests/report/phases.cu:34 `scale`: shared memory is where 2 loads of later phases can find it",
        "`z` of tests/report/phases.cu:38 `scale`: global memory is where 2 loads of later phases can find it",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn what_runs_where_a_launch_is_refused() {
    let report: Value = serde_json::from_str(&built("json")).expect("a report is JSON");
    let fusions = report["fusions"].as_array().expect("launches fuse");
    let [first, second] = &fusions[..] else {
        panic!("{fusions:?}");
    };
    let members = first["members"].as_array().expect("there are members");
    assert_eq!(first["fallback"][0]["members"], Value::from(&members[1..]));
    assert_eq!(second["fallback"], Value::Null);
    let line = "where that is refused, tests/report/phases.cu:35 `mean` and tests/report/phases.cu:36 `halve` run as one";
    let text = built("txt");
    assert!(text.contains(line), "{text}");
    let page = built("html");
    assert!(page.contains("where that is refused"), "{page}");
}

/// Of `tests/report/loops.cu`, by the lines of both ends: the reason, the message and whether it is between
/// iterations.
fn apart_in_loops() -> BTreeMap<(u64, u64), (String, String, bool)> {
    let report: Value = serde_json::from_str(&analyse("tests/report/loops.cu", "json")).unwrap();
    let line = |id: &Value| {
        let node = &report["nodes"][id.as_u64().unwrap() as usize];
        node["line"].as_u64().unwrap()
    };
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let missed = report["missed"].as_array().unwrap().iter();
    let missed = missed.map(|missed| {
        let ends = (line(&missed["src"]), line(&missed["dst"]));
        let carried = missed["carried"].as_bool().unwrap();
        (
            ends,
            (word(&missed["reason"]), word(&missed["message"]), carried),
        )
    });
    missed.collect()
}

#[test]
fn what_keeps_launches_apart_is_what_a_person_would_name() {
    let missed = apart_in_loops();
    for (ends, reason, words, carried) in [
        (
            (29, 28),
            "global_dependence",
            "from one iteration to the next",
            true,
        ),
        ((54, 54), "host_loop", "`v`", true),
        ((33, 33), "copy_between", "a copy in between", true),
        ((38, 39), "control_flow", "alternatives of one `if`", false),
        ((41, 44), "fence", "separate timed phases", false),
        ((48, 50), "copy_between", "a copy in between", false),
    ] {
        let (found, message, between) = missed
            .get(&ends)
            .unwrap_or_else(|| panic!("nothing of {ends:?}: {missed:#?}"));
        assert_eq!(found, reason, "{ends:?}: {message}");
        assert_eq!(*between, carried, "{ends:?}");
        assert!(message.contains(words), "{ends:?}: {message}");
    }
    let iterations = missed.values().filter(|(_, _, carried)| *carried);
    assert_eq!(iterations.count(), 3, "{missed:#?}");
    let text = analyse("tests/report/loops.cu", "text");
    let inside = "the host loop around tests/report/loops.cu:25 `grow` runs inside its kernel: each thread needs only what it \
                  made itself";
    assert!(text.contains(inside), "{text}");
}

#[test]
fn links_of_a_page_lead_somewhere() {
    let source = "tests/report/loops.cu";
    let page = analyse(source, "html");
    let parts = |mark: &str| -> Vec<String> {
        let rest = page.split(mark).skip(1);
        rest.map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
            .collect()
    };
    let anchors = parts(" id=\"");
    let links = parts("href=\"#");
    assert!(links.len() > 20, "{links:?}");
    for link in &links {
        assert!(anchors.contains(link), "{link} leads nowhere");
    }
    let different: std::collections::BTreeSet<&String> = anchors.iter().collect();
    assert_eq!(different.len(), anchors.len(), "an anchor is there twice");
    // Launches that stay unfused say where they run.
    assert!(
        page.contains("a launch of its own, where it stands ("),
        "{page}"
    );
    assert!(!page.contains("http"), "a page needs nothing else");
}

/// Whether the compiler wrote a launch once more.
fn is_copy(node: &&&Value) -> bool {
    let mut kinds = ["first_iteration", "last_iteration", "past_loop"].into_iter();
    kinds.any(|kind| node[kind] == true)
}

/// A loop that the compiler rotates is told as the source has it.
#[test]
fn launches_of_the_next_iteration_are_told_as_such() {
    let source = "tests/run/rotated_loops.cu";
    let report: Value = serde_json::from_str(&analyse(source, "json")).unwrap();
    let (root, mut found) = (schema(), Vec::new());
    mistakes(&root, &root, &report, "report", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    let launches: Vec<&Value> = report["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["kind"] == "launch")
        .collect();
    copies_count_as_none(&report, &launches);
    let fused = report["fusions"].as_array().unwrap().iter();
    let next = fused.filter_map(|fusion| fusion["of_next_iteration"][0].as_u64());
    let next = next
        .min()
        .expect("a fusion has a member of the next iteration");
    let line = &launches.iter().find(|node| node["id"] == next).unwrap()["line"];
    let text = analyse(source, "text");
    assert!(text.contains("of the next iteration run as one"), "{text}");
    let why = format!("--why=rotated_loops.cu:{line}");
    let why = told(source, &[&why]);
    assert!(why.contains("of the iteration before\n"), "{why}");
    assert!(why.contains("in the first iteration\n"), "{why}");
}

/// That the launches which the compiler wrote again count as none of the source's, and that nothing is said to be missed with them.
fn copies_count_as_none(report: &Value, launches: &[&Value]) {
    let copies: Vec<u64> = launches
        .iter()
        .filter(is_copy)
        .filter_map(|node| node["id"].as_u64())
        .collect();
    assert!(!copies.is_empty());
    let of_source = (launches.len() - copies.len()) as u64;
    assert_eq!(report["counts"]["launches"].as_u64(), Some(of_source));
    for missed in report["missed"].as_array().unwrap() {
        let ends = [&missed["src"], &missed["dst"]].map(|end| end.as_u64().unwrap());
        assert!(!ends.iter().any(|end| copies.contains(end)), "{missed}");
    }
}

/// The same of a loop whose last iteration ends with what stands behind it.
#[test]
fn launches_of_the_last_iteration_are_told_as_such() {
    let source = "tests/run/loop_ends.cu";
    let report: Value = serde_json::from_str(&analyse(source, "json")).unwrap();
    let (root, mut found) = (schema(), Vec::new());
    mistakes(&root, &root, &report, "report", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    let nodes = report["nodes"].as_array().unwrap();
    let launches: Vec<&Value> = nodes
        .iter()
        .filter(|node| node["kind"] == "launch")
        .collect();
    copies_count_as_none(&report, &launches);
    let fused = report["fusions"].as_array().unwrap();
    let joined = fused.iter().find(|fusion| {
        let last = fusion["of_last_iteration"].as_array();
        last.is_some_and(|last| last.len() == 1)
    });
    let joined = joined.expect("a fusion has a member of the last iteration");
    let behind = joined["members"][1].as_u64().unwrap();
    let line = &launches.iter().find(|node| node["id"] == behind).unwrap()["line"];
    let text = analyse(source, "text");
    assert!(text.contains("of the last iteration and "), "{text}");
    let why = format!("--why=loop_ends.cu:{line}");
    let why = told(source, &[&why]);
    assert!(why.contains("of the last iteration\n"), "{why}");
}

#[test]
fn sets_and_copies_are_no_launches() {
    let source = "test_programs/jacobi_residual.cu";
    let report: Value = serde_json::from_str(&analyse(source, "json")).unwrap();
    let nodes = report["nodes"].as_array().unwrap().iter();
    let launches = nodes.filter(|node| node["kind"] == "launch").count() as u64;
    let counts = &report["counts"];
    assert_eq!(counts["launches"].as_u64(), Some(launches));
    let text = analyse(source, "text");
    let first = text.lines().next().unwrap_or_default();
    let begin = format!(
        "sirius: {launches} launches -> {}",
        counts["launches_after"]
    );
    assert!(first.starts_with(&begin), "{first}");
    // Dependences are counted there, and listed where they are asked for.
    assert!(!text.contains("\ndependences\n"), "{text}");
    let listed = analyse_with(source, "text", &["--dependences"]);
    assert!(listed.contains("\ndependences\n"), "{listed}");
}

#[test]
fn maps_are_told_in_every_form() {
    let source = "tests/report/maps.cu";
    let report: Value = serde_json::from_str(&analyse(source, "json")).expect("a report is JSON");
    let fusions = report["fusions"].as_array().expect("a list");
    let maps = fusions.iter().flat_map(|fusion| {
        let maps = fusion["maps"].as_array().expect("a list");
        assert_eq!(
            maps.len(),
            fusion["members"].as_array().expect("a list").len()
        );
        let told = maps.iter().map(|map| {
            let word = |name: &str| map[name].as_str().expect("a word").to_owned();
            [word("name"), word("kind"), word("text")]
        });
        told.collect::<Vec<_>>()
    });
    let maps: Vec<_> = maps.collect();
    let expected = [
        ["scale", "identity", "blocks and threads as launched"],
        [
            "shift",
            "remapped",
            "threads remapped block after block, 4 blocks to one",
        ],
        ["transpose", "identity", "blocks and threads as launched"],
        ["negate", "rearranged", "blocks transposed"],
        [
            "shift",
            "runs",
            "threads counted block after block, 42 to a block",
        ],
        [
            "subtract_first",
            "identity",
            "blocks and threads as launched",
        ],
        [
            "fill",
            "blocks",
            "64 blocks of its own from 0 on, in the first threads of each",
        ],
        ["count", "blocks", "10 blocks of its own from 64 on"],
    ];
    assert_eq!(maps, expected);
    for form in ["text", "html", "dot"] {
        let told = analyse(source, form);
        for [name, kind, text] in expected {
            let line = format!("`{name}`: {text}");
            assert_eq!(told.contains(&line), kind != "identity", "{form}: {line}");
        }
    }
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema = schema();
    let report: Value = serde_json::from_str(include_str!("report/example.json")).unwrap();
    for (place, wrong) in [
        ("/version", Value::from(1)),
        ("/fusions/0/orientation", Value::Null),
        ("/nodes/0/kind", Value::from("teapot")),
        ("/nodes/1/grid", Value::from(3)),
        ("/edges/0/scope", Value::Null),
        ("/edges/0/src", Value::from("0")),
        ("/fusions/0/members", Value::from("none")),
        ("/missed/0", Value::Object(serde_json::Map::new())),
    ] {
        let mut report = report.clone();
        *report.pointer_mut(place).expect("the example has it") = wrong;
        let mut found = Vec::new();
        mistakes(&schema, &schema, &report, "report", &mut found);
        assert!(!found.is_empty(), "{place}");
    }
    let mut report = report;
    report["surprise"] = Value::Null;
    let mut found = Vec::new();
    mistakes(&schema, &schema, &report, "report", &mut found);
    assert_eq!(found.len(), 1, "{found:?}");
}

/// The nodes of a graph in dot's notation, by cluster where they are in one, and how often each pair
/// of nodes has an edge.
#[derive(Debug, Default, PartialEq)]
struct Drawn {
    nodes: Vec<usize>,
    clusters: Vec<Vec<usize>>,
    edges: BTreeMap<(usize, usize), usize>,
}

/// Reads the part of dot's language that we write; panics on anything else.
fn read_dot(text: &str) -> Drawn {
    let node = |word: &str| -> usize {
        let number = word
            .strip_prefix('n')
            .and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("no node: {word}"))
    };
    let mut drawn = Drawn::default();
    let mut depth = 0;
    for line in text.lines().map(str::trim) {
        let quotes = line
            .replace("\\\\", "")
            .replace("\\\"", "")
            .matches('"')
            .count();
        assert_eq!(quotes % 2, 0, "an open string: {line}");
        let statement = line.split(" [").next().unwrap_or_default();
        if line.ends_with('{') {
            depth += 1;
            if line.starts_with("subgraph cluster_") {
                drawn.clusters.push(Vec::new());
            }
        } else if line == "}" {
            depth -= 1;
        } else if let Some((from, to)) = statement.split_once(" -> ") {
            *drawn.edges.entry((node(from), node(to))).or_default() += 1;
        } else if depth == 2 && !line.starts_with("label=") {
            let member = node(line.trim_end_matches(';'));
            drawn
                .clusters
                .last_mut()
                .expect("a cluster is open")
                .push(member);
        } else if depth == 1 && statement != "node" {
            drawn.nodes.push(node(statement));
        }
        let whole = line.ends_with(';') || line.ends_with('{') || line == "}";
        assert!(whole, "no statement: {line}");
    }
    assert_eq!(depth, 0, "a block is open");
    drawn
}

#[test]
fn drawings_have_the_nodes_and_edges_of_the_report() {
    for source in SOURCES {
        let report: Value = serde_json::from_str(&analyse(source, "json")).unwrap();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let number = |value: &Value| value.as_u64().expect("a number") as usize;
        let mut expected = Drawn {
            nodes: list(&report["nodes"])
                .iter()
                .map(|node| number(&node["id"]))
                .collect(),
            ..Drawn::default()
        };
        for fusion in list(&report["fusions"]) {
            let members = list(&fusion["members"]);
            expected.clusters.push(members.iter().map(number).collect());
        }
        for edge in list(&report["edges"]) {
            let ends = (number(&edge["src"]), number(&edge["dst"]));
            *expected.edges.entry(ends).or_default() += 1;
        }
        assert!(!expected.edges.is_empty(), "{source}");
        assert_eq!(read_dot(&analyse(source, "dot")), expected, "{source}");
    }
}

#[test]
fn batches_and_what_overwriting_costs() {
    let source = "tests/report/in_place.cu";
    let kept = &["--sirius-opt=all,-buffer-renaming"];
    let report: Value = serde_json::from_str(&analyse_with(source, "json", kept)).unwrap();
    let [in_loop, straight] = report["batched_regions"].as_array().unwrap().as_slice() else {
        panic!("{}", report["batched_regions"]);
    };
    let count = |value: &Value| {
        let figure = |name: &str| value[name].as_u64();
        (figure("batches"), figure("launches"))
    };
    // Steps + cells - 1 batches, of two launches each.
    assert_eq!(count(&straight["count"]), (Some(8), Some(8)));
    assert_eq!(straight["statements"][0]["batch"], 1);
    assert_eq!(straight["statements"][9]["batch"], 8);
    let [overwritten] = straight["overwritten"].as_array().unwrap().as_slice() else {
        panic!("{}", straight["overwritten"]);
    };
    assert_eq!(overwritten["buffers"], serde_json::json!(["s"]));
    // A cell a launch, those of a batch side by side; what stands side by side waits for nothing.
    assert_eq!(count(&overwritten["without"]), (None, Some(4)));
    assert_eq!(overwritten["whole"], true);
    assert_eq!(in_loop["overwritten"][0]["whole"], true);
    assert_eq!(in_loop["count"]["batches"], Value::Null);
    assert_eq!(in_loop["inside_loops"], 2);
    let text = analyse_with(source, "text", kept);
    for line in [
        "12 launches wait for their launch batches: 8 batches, 8 launches",
        "overwriting `s` costs launches: with a buffer of its own for each version, 4 launches in \
         place of 8 batches, 8 launches",
        "    anti on `s`, tests/report/in_place.cu:26 `mix` -> tests/report/in_place.cu:26 `keep`, and ",
        "`s[32]` is read by block 0, thread 0 (tests/report/in_place.cu:8) and written by block 1, thread 0 \
         (tests/report/in_place.cu:14)",
        "in 2 host loops, found when the program runs: ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn batches_of_renamed_buffers() {
    let source = "tests/report/in_place.cu";
    let report: Value = serde_json::from_str(&analyse(source, "json")).unwrap();
    let [in_loop, straight] = report["batched_regions"].as_array().unwrap().as_slice() else {
        panic!("{}", report["batched_regions"]);
    };
    // A cell in the loop is one launch; where it is written out, six launches are left of eight.
    assert_eq!(in_loop["renamed"], serde_json::json!(["s"]));
    assert_eq!(in_loop["count"]["launches"], 1);
    assert_eq!(in_loop["overwritten"], serde_json::json!([]));
    assert_eq!(straight["renamed"], serde_json::json!(["s", "t"]));
    assert_eq!(straight["count"]["launches"], 6);
    let text = analyse(source, "text");
    assert!(
        text.contains("renamed: what replaces `s` gets other memory"),
        "{text}"
    );
}

#[test]
fn batches_that_are_phases_of_one_launch() {
    let source = "tests/run/batches_in_phases.cu";
    let phases = "batches that follow each other are one launch where the device has room, with a barrier across the \
                  grid between two of them";
    let why = "`voted` has an operation of a warp that lanes may wait for which have returned";
    let options = &["--sirius-boundaries=grid-barrier"];
    let text = analyse_with(source, "text", options);
    for line in [phases, &format!("a batch of its own: {why}")] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let report: Value = serde_json::from_str(&analyse_with(source, "json", options)).unwrap();
    let regions = report["batched_regions"].as_array().unwrap().iter();
    let statements = regions.flat_map(|region| region["statements"].as_array().unwrap());
    let (phases, others): (Vec<&Value>, Vec<&Value>) =
        statements.partition(|statement| statement["in_phases"] == true);
    assert!(phases.iter().all(|phase| phase["no_phase"].is_null()));
    assert_eq!(others.len(), 1, "{others:?}");
    assert_eq!(others[0]["no_phase"], why);
    // Nobody asks where batches stay apart.
    let report = analyse(source, "json");
    assert!(!report.contains("\"in_phases\"") && !report.contains("\"no_phase\""));
}

#[test]
fn repeated_lines_are_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("layers.cu");
    let mut source = String::from(
        "__global__ void near(const float *a, float *o) {\n\
           int i = blockIdx.x * 256 + threadIdx.x;\n  o[i] = a[i + 300];\n}\n\
         int main() {\n  float *a, *b;\n  cudaMalloc(&a, 99999); cudaMalloc(&b, 99999);\n",
    );
    for launch in 0..40 {
        let (from, to) = if launch % 2 == 0 {
            ("a", "b")
        } else {
            ("b", "a")
        };
        source.push_str(&format!("  near<<<9, 256>>>({from}, {to});\n"));
    }
    source.push_str("}\n");
    std::fs::write(&path, source).unwrap();
    let path = path.to_string_lossy();
    let report: Value = serde_json::from_str(&analyse(&path, "json")).unwrap();
    let apart = report["missed"].as_array().map_or(0, Vec::len);
    assert!(apart >= 39, "{apart}");
    let text = analyse(&path, "text");
    let lines = text
        .lines()
        .filter(|line| line.contains("stay unfused"))
        .count();
    assert!(lines <= 4, "{lines} lines of {apart}:\n{text}");
    assert!(text.contains("times more: "), "{text}");
}
