//! Conversions between integers of 128 bits and floats, which device code has functions of ours for, beside those of the
//! host's compiler: the same bits for numbers of all lengths.

use std::path::Path;
use std::process::Command;

const NUMBERS: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef unsigned __int128 wide;
typedef __int128 whole;
double __sirius_f64_of_u128(wide);
float __sirius_f32_of_u128(wide);
double __sirius_f64_of_i128(whole);
float __sirius_f32_of_i128(whole);
wide __sirius_u128_of_f64(double);
whole __sirius_i128_of_f64(double);

static uint64_t state = 88172645463325252ull;
static uint64_t drawn(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
static int differ64(double a, double b) { return memcmp(&a, &b, sizeof a) != 0; }
static int differ32(float a, float b) { return memcmp(&a, &b, sizeof a) != 0; }

int main(void) {
  long wrong = 0;
  for (int i = 0; i < 400000; ++i) {
    wide x = ((wide)drawn() << 64 | drawn()) >> drawn() % 128;
    if (drawn() % 4 == 0) x &= ~(((wide)1 << drawn() % 100) - 1);
    if (drawn() % 4 == 0) x |= 1;
    if (drawn() % 64 == 0) x = 0;
    whole y = drawn() & 1 ? -(whole)x : (whole)x;
    wrong += differ64(__sirius_f64_of_u128(x), (double)x) + differ32(__sirius_f32_of_u128(x), (float)x);
    wrong += differ64(__sirius_f64_of_i128(y), (double)y) + differ32(__sirius_f32_of_i128(y), (float)y);
    double number = (double)x, part = (double)drawn() / ((double)drawn() + 1) * 1000;
    if (number < 0x1p128) wrong += __sirius_u128_of_f64(number) != (wide)number;
    number = (double)(y >> 1);
    wrong += __sirius_i128_of_f64(number) != (whole)number;
    wrong += __sirius_u128_of_f64(part) != (wide)part || __sirius_i128_of_f64(-part) != (whole)-part;
  }
  printf("%ld wrong\n", wrong);
  return wrong != 0;
}
"#;

#[test]
fn wide_conversions_give_what_the_host_gives() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("numbers.c");
    std::fs::write(&source, NUMBERS).unwrap();
    let functions =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codegen/fused_kernels/wide_conversions.ll");
    let program = folder.path().join("numbers");
    let built = Command::new("clang++-22")
        .args(["-O1", "-w", "-x", "c"])
        .arg(&source)
        .args(["-x", "ir"])
        .arg(functions)
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(built.success());
    let ran = Command::new(program).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}");
}

/// No call of a library is left for a GPU, whose assembler would not find one.
#[test]
fn device_code_converts_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("converts.cu");
    std::fs::write(
        &source,
        "__global__ void convert(double *f, unsigned __int128 *u, __int128 *s, float *g) {\n\
           f[0] = (double)u[0]; f[1] = (double)s[0]; g[0] = (float)u[1]; g[1] = (float)s[1];\n\
           u[2] = (unsigned __int128)f[2]; s[2] = (__int128)g[2];\n}\n",
    )
    .unwrap();
    for options in [&["-O3"][..], &["-G"]] {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .args(["-cubin", "--sirius-device=cuda", "-o", "/dev/null"])
            .args(options)
            .arg(&source)
            .output()
            .unwrap();
        assert!(built.status.success(), "{built:?}");
    }
}
