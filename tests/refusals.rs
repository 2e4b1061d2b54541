//! What is refused as nvcc refuses it, and what is not, where clang by itself would decide otherwise.

use std::process::{Command, Output};

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(arguments)
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler runs")
}

/// What nvcc checks only where a template is instantiated is refused there, and so is what both compilers refuse.
#[test]
fn what_nvcc_refuses_stays_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("refused.cu");
    for (text, message) in [
        (
            "class A { int x; };\ntemplate <class T> int f(A &a) { return a.x; }\nint g(A &a) { return f<int>(a); }\n",
            "'x' is a private member of 'A'",
        ),
        (
            "struct A { template <int n> __device__ int at() { return n; } };\n\
             template <class T> __device__ int f(T a) { return a.at<3>(); }\n\
             __global__ void k(int *o) { *o = f(A()); }\n",
            "missing 'template' keyword",
        ),
        (
            "__device__ int f() { extern __shared__ int x; return x; }\n\
             __global__ void k(int *o) { extern __shared__ int x; x = 3; *o = f(); }\n",
            "define it once without extern",
        ),
        (
            "struct N { constexpr __device__ operator int() const { return 3; } };\n\
             #define ADD(r, n) asm(\"add.s32 %0, %0, %1;\" : \"+r\"(r) : \"n\"(n))\n\
             __global__ void k(int *o) { int r = *o; ADD(r, N()); *o = r; }\n",
            "convert it: \"n\"(+(x))",
        ),
        (
            "struct N { constexpr __device__ operator int() const { return 3; } };\n\
             __global__ void k(int *o) {\n    int r;\n    asm(\"mov.s32 %0, %1;\" : \"=r\"(r) : \"i\"(N()));\n    *o = r;\n}\n",
            "refused.cu:4:5: error: asm constraint letter 'i' is not allowed inside a __device__/__global__ function\n",
        ),
        (
            "__global__ void k(int *o) { int r; asm(\"mov.s32 %0, %1;\" : \"=r\"(r) : \"rn\"(3)); *o = r; }\n",
            "refused.cu:1:36: error: an asm operand may specify only one constraint letter in a __device__/__global__ function\n",
        ),
        (
            "struct N { int a, b; };\n\
             __global__ void k(long long *o, N n) { asm(\"mov.b64 %0, %1;\" : \"=l\"(*o) : \"l\"(n)); }\n",
            "refused.cu:2:40: error: an asm operand must have scalar type\n",
        ),
        (
            "struct N { long long a, b; };\n\
             __global__ void k(long long *o, N n) { asm(\"mov.b64 %0, %1;\" : \"=l\"(*o) : \"l\"(n)); }\n",
            "refused.cu:2:40: error: an asm operand must have scalar type\n",
        ),
    ] {
        std::fs::write(&source, text).unwrap();
        let path = source.to_str().unwrap();
        let output = program(&[path, "--sirius-device=cpu", "-c", "-o", "/dev/null"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(message), "{stderr}");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
    }
}

/// Warnings that only clang has end no build that nvcc would not end, unless they are asked for.
#[test]
fn warnings_of_clang_alone_are_off() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("warned.cu");
    let text = "class A { int unused; public: A() {} };\n\
                template <class T> void each(T t) { t(); }\n\
                __global__ void k(float *o, int n) { float x = o[1]; x = x; o[0] = n + x; }\n\
                int main() { int n = 3; each([n] {}); if ((n == 2)) n++; A a; (void)a; k<<<1, 1>>>(nullptr, n); }\n";
    std::fs::write(&source, text).unwrap();
    let path = source.to_str().unwrap();
    for (asked, status) in [("", 0), (",-Wunused-private-field", 2)] {
        let options = format!("-Wall,-Wextra,-Werror{asked}");
        let words = [
            path,
            "--sirius-device=cpu",
            "-c",
            "-o",
            "/dev/null",
            "-Xcompiler",
            &options,
        ];
        let output = program(&words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{stderr}");
    }
}

/// Where lanes of a warp may exchange shared memory with nothing that orders them, and nothing tells whether they do, the
/// CPU device's compiler names both lines; it is silent where they are ordered, or where lockstep is asked for.
#[test]
fn a_possible_exchange_of_lanes_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("scattered.cu");
    let path = source.to_str().unwrap();
    let compiled = [path, "--sirius-device=cpu", "-c", "-o", "/dev/null"];
    let device = [path, "-ptx", "-o", "/dev/null"];
    let clusters = [&compiled[..], &["-arch=sm_90"]].concat();
    let named = r#"asm volatile("bar.sync 1, 256;" ::: "memory");"#;
    let [arrives, waits] = ["arrive", "wait"]
        .map(|part| format!(r#"asm volatile("barrier.cluster.{part}.aligned;" ::: "memory");"#));
    let cases: [(&str, &str, &[&str], bool); 8] = [
        ("", "", &compiled, true),
        ("", named, &compiled, false),
        ("", &[&*arrives, &*waits].concat(), &clusters, false),
        ("", &waits, &clusters, true),
        ("", "__syncwarp();", &compiled, false),
        ("volatile", "", &compiled, false),
        ("", "", &[&compiled[..], &["-w"]].concat(), false),
        ("", "", &device, false),
    ];
    for (kind, between, arguments, warned) in cases {
        let text = format!(
            "__global__ void scattered(float *x, const int *to) {{\n    {kind} __shared__ float s[256];\n    \
             s[to[threadIdx.x]] = x[threadIdx.x];\n    {between}\n    x[threadIdx.x] = s[threadIdx.x];\n}}\n"
        );
        std::fs::write(&source, text).unwrap();
        let output = program(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        let said = "scattered.cu:3:24: warning: `scattered` writes shared memory here";
        assert_eq!(stderr.contains(said), warned, "{stderr}");
        assert_eq!(
            stderr.contains("scattered.cu:5, which reads it"),
            warned,
            "{stderr}"
        );
        let shown =
            "    3 |     s[to[threadIdx.x]] = x[threadIdx.x];\n      |                        ^\n";
        assert_eq!(stderr.contains(shown), warned, "{stderr}");
    }
}

/// A word that is wrong is answered in one sentence, with the right one where that can be told.
#[test]
fn wrong_words_are_answered_with_right_ones() {
    for (words, sentence) in [
        (
            &["--sirius-fusoin=off"][..],
            "Unknown option '--sirius-fusoin=off'; did you mean '--sirius-fusion'?",
        ),
        (
            &["--sirius-device=gpu"],
            "Value 'gpu' is not defined for option 'sirius-device'; there are 'cuda' and 'cpu'",
        ),
        (
            &["analyse"],
            "Don't know what to do with 'analyse'; did you mean 'analyze'?",
        ),
        (
            &["--sirius-device=cpu", "analyze"],
            "Don't know what to do with 'analyze'; as a command it has to be the first word",
        ),
        (&["-c", "nothere.cu"], "Cannot find input file 'nothere.cu'"),
    ] {
        let answered = program(words);
        let said = String::from_utf8_lossy(&answered.stderr).into_owned();
        assert_eq!(said, format!("sirius-rs fatal   : {sentence}\n"));
        assert_eq!(answered.status.code(), Some(1));
    }
}

/// However many sources are read at once, what is said of them stands in their order, up to the first with errors.
#[test]
fn sources_at_once_are_spoken_of_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "#warning one\nint one() { return 1; }\n",
        "#warning two\n#error no two\n",
        "#error no three\n",
        "int main() { return 0; }\n",
    ];
    let paths: Vec<String> = (0..texts.len())
        .map(|index| {
            let path = folder.path().join(format!("source{index}.cu"));
            std::fs::write(&path, texts[index]).unwrap();
            path.to_string_lossy().into_owned()
        })
        .collect();
    let [by_one, at_once] = ["-t1", "-t4"].map(|threads| {
        let mut arguments = vec![threads, "--sirius-device=cpu", "-o", "/dev/null"];
        arguments.extend(paths.iter().map(String::as_str));
        let output = program(&arguments);
        assert!(!output.status.success());
        (output.status, String::from_utf8(output.stderr).unwrap())
    });
    assert_eq!(by_one, at_once);
    for (word, is_said) in [
        ("one", true),
        ("two", true),
        ("no two", true),
        ("three", false),
    ] {
        assert_eq!(at_once.1.contains(word), is_said, "{word}: {}", at_once.1);
    }
}
