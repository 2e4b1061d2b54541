//! Who chose the groups, and what they take by the cost model.

use serde::{Deserialize, Serialize};

/// What a planner found. Times are those of the cost model, each launch site once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportPlanning {
    /// The planner whose groups are carried out.
    pub planner: String,
    /// The planner that the command line names.
    pub asked: String,
    /// What the times are of: `model`, `measured` or `bytes`.
    pub score: String,
    /// Launches of which times were measured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub measured_launches: usize,
    /// The device whose figures the model uses.
    pub device: String,
    /// What the plan takes.
    pub nanoseconds: f64,
    /// What greedy grouping's plan takes.
    pub greedy_nanoseconds: f64,
    /// What all launches take unfused.
    pub unfused_nanoseconds: f64,
    /// Of `ilp`: no plan of the patterns that it looked at takes less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_nanoseconds: Option<f64>,
    /// Of `ilp`: how far its plan may be from that, as a part of the plan's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Plans that the verifier refused on the way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl ReportPlanning {
    /// Where the times come from, in words.
    fn source(&self) -> String {
        let device = &self.device;
        match (self.score.as_str(), self.measured_launches) {
            ("measured", 1) => {
                format!("measured times of one launch and the cost model of {device}")
            }
            ("measured", launches) => {
                format!("measured times of {launches} launches and the cost model of {device}")
            }
            ("bytes", _) => format!("the bytes that move, on {device}"),
            _ => format!("the cost model of {device}"),
        }
    }

    /// In one line.
    pub fn sentence(&self) -> String {
        let microseconds = |nanoseconds: f64| format!("{:.1}", nanoseconds / 1e3);
        let mut text = format!(
            "groups by the planner {}: {} μs by {}, greedy {}, unfused {}",
            self.planner,
            microseconds(self.nanoseconds),
            self.source(),
            microseconds(self.greedy_nanoseconds),
            microseconds(self.unfused_nanoseconds),
        );
        if let (Some(bound), Some(gap)) = (self.bound_nanoseconds, self.gap) {
            let part = format!(
                "; at least {}, gap {:.1} %",
                microseconds(bound),
                gap * 100.0
            );
            text.push_str(&part);
        }
        if self.refused > 0 {
            text.push_str(&format!(
                "; plans that the verifier refused: {}",
                self.refused
            ));
        }
        text
    }
}
