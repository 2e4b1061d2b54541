//! Random launch groups, many to a unit: what the fuzzer of whole groups runs.
//!
//! A seed gives a unit of [`CASES`] cases, each a host function that launches two to six kernels of a
//! pool, with loops, branches, streams, copies, sets, aliasing pointers, parts of allocations and tables of
//! pointers. The unit is built with fusion off and on for the CPU device, and each build runs all cases in one process,
//! each with many draws of run-time values; every case prints the contents of its buffers, so that a difference
//! has a case. What differs, or does not build, is made smaller and kept.

use crate::differential::{Difference, Differential};
use crate::generator::groups::Unit;
use libtest_mimic::{Failed, Trial};

/// Cases of one unit, unless `SIRIUS_FUZZ_CASES` says otherwise.
const CASES: usize = 12;

fn cases() -> usize {
    let chosen = std::env::var("SIRIUS_FUZZ_CASES").ok();
    chosen.and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

/// A test for each seed, and one for the fuzzer itself.
pub fn trials(seeds: Vec<u64>) -> impl Iterator<Item = Trial> {
    seeds
        .into_iter()
        .map(|seed| Trial::test(format!("groups/{seed}"), move || check(seed)))
        .chain([Trial::test("planted", check_planted)])
}

/// All cases of a seed, fused against unfused; the seed decides on the layout of groups too.
pub fn check(seed: u64) -> Result<(), Failed> {
    let unit = Unit::new(seed, cases());
    if std::env::var_os("SIRIUS_FUZZ_KEEP").is_some() {
        let kept = std::env::temp_dir().join(format!("sirius_groups_{seed}.cu"));
        std::fs::write(kept, unit.text())?;
    }
    let differential = Differential::new()?;
    match differential.compare(&unit, &unit)? {
        None => Ok(()),
        Some(difference) => {
            let (smallest, difference) =
                differential.shrink(&unit, difference, |unit| unit.clone())?;
            Err(differential.report(&smallest, &difference)?.into())
        }
    }
}

/// The fuzzer itself: an edit planted in one case of the fused build is found, named and made small.
fn check_planted() -> Result<(), Failed> {
    let whole = Unit::new(0, 3);
    let planted = |unit: &Unit| {
        let mut wrong = unit.clone();
        for case in wrong.cases.iter_mut().filter(|case| case.number == PLANTED) {
            let shown = |line: &String| line.starts_with("    show(");
            let last = |line: &str| Some(line.rsplit_once(", ")?.1.split_once(')')?.0.to_owned());
            if let Some(first) = case.lines.iter().position(shown)
                && let Some(buffer) = last(&case.lines[first])
            {
                let edit = format!("    cudaMemset((void *)({buffer}), 0x5b, 4);");
                case.lines.insert(first, edit);
            }
        }
        wrong
    };
    let differential = Differential::new()?;
    let Some(difference) = differential.compare(&whole, &planted(&whole))? else {
        return Err("a planted edit was not found".into());
    };
    let Difference::Output { case, .. } = &difference else {
        return Err(format!("a planted edit is no {difference:?}").into());
    };
    assert_eq!(*case, PLANTED);
    let (smallest, difference) = differential.shrink(&whole, difference, planted)?;
    assert_eq!(smallest.cases.len(), 1);
    assert_eq!(smallest.cases[0].number, PLANTED);
    assert_eq!(smallest.cases[0].launches(), 0, "{}", smallest.text());
    let report = differential.report(&smallest, &difference)?;
    assert!(report.contains("seed 0, case 1"), "{report}");
    Ok(())
}

/// The case that [`check_planted`] changes.
const PLANTED: usize = 1;
