//! What was measured, as files: the results of a run, and verdicts in a cache.
//!
//! A file of results is a sequence of JSON objects, one for each time that variants were measured, so that
//! results are put together by writing one after the other. Nothing in a file is trusted: what does not
//! read is an error that costs the choices and no more, and names count only where a subject has them.

use super::choice::Choice;
use super::subject::Subject;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a program that measures was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub format: u32,
    /// Version of the compiler.
    pub compiler: String,
    /// What is tuned.
    pub subjects: Vec<Subject>,
    /// For each configuration the names of choices by keys; a subject that is not named is as planned.
    pub configurations: Vec<BTreeMap<String, String>>,
}

impl Manifest {
    /// The manifest of configurations that this compiler makes.
    pub fn new(subjects: Vec<Subject>, configurations: Vec<BTreeMap<String, String>>) -> Self {
        Self {
            format: FORMAT,
            compiler: env!("CARGO_PKG_VERSION").to_owned(),
            subjects,
            configurations,
        }
    }
}

const FORMAT: u32 = 2;

/// Why nothing is chosen by a file.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is not what `sirius-rs tune` writes.
    #[error("it is no file of measurements: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It has nothing in it.
    #[error("it is empty")]
    Empty,
    /// Another version wrote it.
    #[error("it is of sirius-rs {0}, and this is another version")]
    Foreign(String),
}

/// Times of variants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// The device, as it calls itself.
    pub device: String,
    /// By key, the planned variant and the times of each variant in nanoseconds, one for each run.
    subjects: BTreeMap<String, (String, BTreeMap<String, Vec<f64>>)>,
    /// By key, what a launch took, on average of a run: of each variant as one launch, and of each site unfused.
    launches: BTreeMap<String, LaunchTimes>,
}

/// What launches of a subject took, one number for each run.
#[derive(Clone, Debug, Default, PartialEq)]
struct LaunchTimes {
    /// By the name of the variant.
    together: BTreeMap<String, Vec<f64>>,
    /// By the place of a site among those of the subject.
    apart: BTreeMap<usize, Vec<f64>>,
}

/// What a group took in nanoseconds, medians of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupTimes {
    /// As one launch, in the variant that was fastest.
    pub together: f64,
    /// By member, as a launch of its own.
    pub apart: Vec<f64>,
}

/// What a key's measurements come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Version of the compiler.
    pub compiler: String,
    /// The device that was measured on.
    pub device: String,
    /// Which subjects it is about.
    pub key: String,
    /// The name of the best variant.
    pub choice: String,
    /// What it took in a run of the program, the median of several.
    pub nanoseconds: f64,
    /// What the planned variant took.
    pub planned_nanoseconds: f64,
}

impl Measurements {
    /// Reads a file of results.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub fn read(text: &str) -> Result<Self, RecordError> {
        let mut all = Self::default();
        let mut read = 0;
        for results in serde_json::Deserializer::from_str(text).into_iter::<Results>() {
            all.add(results?)?;
            read += 1;
        }
        match read {
            0 => Err(RecordError::Empty),
            _ => Ok(all),
        }
    }

    fn add(&mut self, results: Results) -> Result<(), RecordError> {
        let Manifest {
            format,
            compiler,
            subjects,
            configurations,
        } = results.manifest;
        if format != FORMAT || compiler != env!("CARGO_PKG_VERSION") {
            return Err(RecordError::Foreign(compiler));
        }
        self.device = results.device;
        // The first round warms the machine up.
        let warm = results.runs.iter().any(|run| run.round > 0);
        let runs = results.runs.iter().filter(|run| !warm || run.round > 0);
        for run in runs {
            let Some(configuration) = configurations.get(run.configuration) else {
                continue;
            };
            for subject in &subjects {
                let sites = run.sites.iter();
                let own = sites.filter(|site| subject.sites.contains(&site.site));
                let times: Vec<f64> = own.map(|site| site.nanoseconds).collect();
                let total: f64 = times.iter().sum();
                if times.is_empty() || !total.is_finite() {
                    continue;
                }
                let name = configuration.get(&subject.key).unwrap_or(&subject.planned);
                self.launches
                    .entry(subject.key.clone())
                    .or_default()
                    .add(subject, name, &run.sites);
                let entry = self.subjects.entry(subject.key.clone());
                let (_, variants) =
                    entry.or_insert_with(|| (subject.planned.clone(), BTreeMap::new()));
                variants.entry(name.clone()).or_default().push(total);
            }
        }
        Ok(())
    }

    /// Takes other measurements in.
    pub fn merge(&mut self, other: Self) {
        self.device = other.device;
        for (key, times) in other.launches {
            let own = self.launches.entry(key).or_default();
            for (name, times) in times.together {
                own.together.entry(name).or_default().extend(times);
            }
            for (place, times) in times.apart {
                own.apart.entry(place).or_default().extend(times);
            }
        }
        for (key, (planned, variants)) in other.subjects {
            let own = self.subjects.entry(key);
            let (_, own) = own.or_insert_with(|| (planned, BTreeMap::new()));
            for (name, times) in variants {
                own.entry(name).or_default().extend(times);
            }
        }
    }

    /// The names of the variants of a subject that ran.
    pub fn variants(&self, key: &str) -> impl Iterator<Item = &str> {
        let subject = self.subjects.get(key);
        subject
            .into_iter()
            .flat_map(|(_, variants)| variants.keys().map(String::as_str))
    }

    /// What a variant took, the median of all runs.
    pub fn median(&self, key: &str, name: &str) -> Option<f64> {
        let (_, variants) = self.subjects.get(key)?;
        variants.get(name).map(|times| quantile(times, 0.5))
    }

    /// What the group of a key took, which has so many members; `None` where it did not run both as one launch and
    /// unfused.
    pub fn of_group(&self, key: &str, members: usize) -> Option<GroupTimes> {
        let times = self.launches.get(key)?;
        let variants = times.together.values();
        let together = variants
            .map(|times| quantile(times, 0.5))
            .reduce(f64::min)?;
        // Groups that are tuned as one have their sites one behind the other.
        let apart = (0..members).map(|member| {
            let own = times
                .apart
                .iter()
                .filter(|(place, _)| **place % members == member);
            let all: Vec<f64> = own.flat_map(|(_, times)| times.iter().copied()).collect();
            (!all.is_empty()).then(|| quantile(&all, 0.5))
        });
        let apart: Vec<f64> = apart.collect::<Option<_>>()?;
        Some(GroupTimes { together, apart })
    }

    /// The best variant of each subject that ran: another one than planned only where its median is below
    /// the planned one's lower quartile, and by [`LEAST_GAIN`].
    pub fn verdicts(&self) -> Vec<Verdict> {
        let of_subject = |(key, (planned, variants)): (&String, &(String, _))| {
            let variants: &BTreeMap<String, Vec<f64>> = variants;
            let times = variants.get(planned)?;
            let (usual, quick) = (quantile(times, 0.5), quantile(times, 0.25));
            let mut best = (planned, usual);
            for (name, times) in variants {
                let median = quantile(times, 0.5);
                if median < best.1 && median <= quick && median < usual * (1.0 - LEAST_GAIN) {
                    best = (name, median);
                }
            }
            Some(Verdict {
                compiler: env!("CARGO_PKG_VERSION").to_owned(),
                device: self.device.clone(),
                key: key.clone(),
                choice: best.0.clone(),
                nanoseconds: best.1,
                planned_nanoseconds: usual,
            })
        };
        self.subjects.iter().filter_map(of_subject).collect()
    }
}

/// A variant has to be faster than the planned one by this part of its time.
const LEAST_GAIN: f64 = 0.02;

fn quantile(times: &[f64], part: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = part * (sorted.len().max(1) - 1) as f64;
    sorted.get(place.round() as usize).copied().unwrap_or(0.0)
}

/// Reads an entry of the cache.
///
/// # Errors
/// See [`RecordError`].
pub fn read_verdict(text: &str) -> Result<Verdict, RecordError> {
    let verdict: Verdict = serde_json::from_str(text)?;
    match verdict.compiler == env!("CARGO_PKG_VERSION") {
        true => Ok(verdict),
        false => Err(RecordError::Foreign(verdict.compiler)),
    }
}

impl LaunchTimes {
    /// Takes in a run in which the subject had the variant of a name.
    fn add(&mut self, subject: &Subject, name: &str, sites: &[Site]) {
        let own = |number: u32, fused: bool| {
            let mut sites = sites.iter();
            sites.find(|site| site.site == number && site.fused == fused && site.launches > 0)
        };
        if matches!(Choice::named(name), Some(Choice::Unfused)) {
            for (place, number) in subject.sites.iter().enumerate() {
                if let Some(site) = own(*number, false) {
                    let times = self.apart.entry(place).or_default();
                    times.push(site.nanoseconds / site.launches as f64);
                }
            }
            return;
        }
        let fused: Vec<&Site> = subject
            .sites
            .iter()
            .filter_map(|number| own(*number, true))
            .collect();
        let launches: u64 = fused.iter().map(|site| site.launches).sum();
        if launches > 0 {
            let total: f64 = fused.iter().map(|site| site.nanoseconds).sum();
            let times = self.together.entry(name.to_owned()).or_default();
            times.push(total / launches as f64);
        }
    }
}

/// What a program that measures writes.
#[derive(Deserialize)]
struct Results {
    manifest: Manifest,
    device: String,
    runs: Vec<Run>,
}

/// One run of a configuration.
#[derive(Deserialize)]
struct Run {
    configuration: usize,
    round: usize,
    sites: Vec<Site>,
}

/// What the launches of a site took.
#[derive(Deserialize)]
struct Site {
    /// Its number; a fused launch has that of its first member, and says that it is `fused`.
    site: u32,
    /// It is a fused launch.
    #[serde(default)]
    fused: bool,
    /// How many there were.
    #[serde(default)]
    launches: u64,
    /// Of all of them.
    nanoseconds: f64,
}

#[cfg(test)]
mod tests {
    use super::super::subject::Space;
    use super::*;

    fn manifest() -> Manifest {
        let subject = Subject {
            key: "k".into(),
            kernels: vec!["scale".into(), "add".into()],
            sites: vec![3, 4],
            planned: "v".into(),
            groups: vec![0],
            space: Space::default(),
        };
        let other = BTreeMap::from([("k".to_owned(), "unfused".to_owned())]);
        Manifest::new(vec![subject], vec![BTreeMap::new(), other])
    }

    /// Times of the planned variant and of the launches unfused, a round each; the first is round 0.
    fn results(planned: &[f64], unfused: &[f64]) -> String {
        let mut runs = Vec::new();
        for (round, (planned, unfused)) in planned.iter().zip(unfused).enumerate() {
            let site = |number: u32, fused: bool, nanoseconds: f64| serde_json::json!({"site": number, "fused": fused, "launches": 1, "nanoseconds": nanoseconds});
            let half = unfused / 2.0;
            let planned = [site(3, true, *planned), site(9, false, 1e9)];
            let unfused = [site(3, false, half), site(4, false, half)];
            for (configuration, sites) in [planned, unfused].into_iter().enumerate() {
                let run = serde_json::json!({"configuration": configuration, "round": round, "sites": sites});
                runs.push(run.to_string());
            }
        }
        let manifest = serde_json::to_string(&manifest()).unwrap();
        let runs = runs.join(",");
        format!("{{\"manifest\":{manifest},\"device\":\"80 cpu\",\"runs\":[{runs}]}}\n")
    }

    fn choice(text: &str) -> String {
        let verdicts = Measurements::read(text).unwrap().verdicts();
        assert_eq!(verdicts.len(), 1);
        verdicts[0].choice.clone()
    }

    #[test]
    fn the_faster_variant_is_chosen_where_it_is_so_beyond_doubt() {
        let planned = [900.0, 100.0, 101.0, 102.0, 99.0];
        assert_eq!(
            choice(&results(&planned, &[10.0, 90.0, 91.0, 89.0, 90.0])),
            "unfused"
        );
        assert_eq!(
            choice(&results(&planned, &[10.0, 110.0, 91.0, 120.0, 120.0])),
            "v"
        );
        assert_eq!(
            choice(&results(&planned, &[10.0, 99.5, 99.5, 99.5, 99.5])),
            "v"
        );
        // The one is quick as often as the other is.
        let noisy = [0.0, 60.0, 100.0, 140.0, 70.0];
        assert_eq!(
            choice(&results(&noisy, &[0.0, 80.0, 80.0, 80.0, 80.0])),
            "v"
        );
    }

    #[test]
    fn results_behind_each_other_are_one() {
        let one = results(&[0.0, 100.0], &[0.0, 90.0]);
        let other = results(&[0.0, 100.0], &[0.0, 200.0]);
        let mut merged = Measurements::read(&one).unwrap();
        merged.merge(Measurements::read(&other).unwrap());
        let together = Measurements::read(&format!("{one}{other}")).unwrap();
        assert_eq!(merged, together);
        assert_eq!(together.median("k", "unfused"), Some(200.0));
        assert_eq!(together.median("k", "h"), None);
    }

    #[test]
    fn other_files_are_refused() {
        let good = results(&[0.0, 1.0], &[0.0, 1.0]);
        assert!(matches!(Measurements::read(""), Err(RecordError::Empty)));
        for end in 1..good.len() - 1 {
            let cut = Measurements::read(&good[..end]);
            assert!(matches!(cut, Err(RecordError::Malformed(_))), "{end}");
        }
        let version = format!("\"compiler\":\"{}\"", env!("CARGO_PKG_VERSION"));
        let foreign = good.replace(&version, "\"compiler\":\"0.0.0\"");
        assert_ne!(foreign, good);
        let refused = Measurements::read(&foreign);
        assert!(matches!(refused, Err(RecordError::Foreign(_))));
        // Numbers of configurations and sites that are not there change nothing.
        let strange = good.replace("\"configuration\":1", "\"configuration\":7");
        assert_eq!(
            Measurements::read(&strange).unwrap().median("k", "unfused"),
            None
        );
    }

    #[test]
    fn verdicts_are_read_back() {
        let good = results(&[0.0, 100.0], &[0.0, 50.0]);
        let verdict = &Measurements::read(&good).unwrap().verdicts()[0];
        let text = serde_json::to_string(verdict).unwrap();
        assert_eq!(read_verdict(&text).unwrap(), *verdict);
        assert!(read_verdict(&text[1..]).is_err());
        let stale = text.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        assert!(matches!(read_verdict(&stale), Err(RecordError::Foreign(_))));
    }
}
