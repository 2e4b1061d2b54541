//! K of launches and of groups, from what a planner is to go by.
//!
//! # Measured times
//! A group that a file of results knows by its key has been measured as one launch, and its members as launches of
//! their own. K of these launches is what they took, and K of the group what its fastest variant took. Where greedy
//! grouping has a launch in another group, K of the launch is what it took there, and K of this group the same part of
//! its members' times as was measured. A group that was never measured takes what the model says, times the ratio of its
//! members' times and what the model says of these: so gains of the model and of the clock are in one unit.
//!
//! Invariant: without measurements all times are the model's.

use super::model::Model;
use super::records::Measurements;
use crate::launch::LaunchId;
use crate::planner::Score;
use crate::schedule::FusionGroup;
use std::collections::BTreeMap;

/// Says the key of a group that is tuned by itself, see [`super::key_of`].
pub type KeyOf<'a> = Box<dyn Fn(&FusionGroup) -> String + 'a>;

/// What launches and groups take, launches included.
pub struct KernelTimes<'a> {
    model: &'a Model<'a>,
    measured: Option<Measured<'a>>,
}

struct Measured<'a> {
    results: Measurements,
    key_of: KeyOf<'a>,
    /// Launches that ran by themselves.
    alone: BTreeMap<LaunchId, f64>,
}

impl<'a> KernelTimes<'a> {
    /// What a model says, which has been told what to count.
    pub fn modelled(model: &'a Model<'a>) -> Self {
        Self {
            model,
            measured: None,
        }
    }

    /// What was measured of `groups` and their members, and what a model makes of that for others.
    pub fn measured(
        model: &'a Model<'a>,
        results: Measurements,
        key_of: KeyOf<'a>,
        groups: &[FusionGroup],
    ) -> Self {
        let mut alone: BTreeMap<LaunchId, f64> = BTreeMap::new();
        for group in groups.iter().filter(|group| group.members.len() > 1) {
            let Some(times) = results.of_group(&key_of(group), group.members.len()) else {
                continue;
            };
            let launches = group.members.iter().map(|member| member.launch);
            alone.extend(launches.zip(times.apart));
        }
        Self {
            model,
            measured: Some(Measured {
                results,
                key_of,
                alone,
            }),
        }
    }

    /// What the times are of.
    pub fn score(&self) -> Score {
        match &self.measured {
            Some(_) => Score::Measured,
            None => self.model.score(),
        }
    }

    /// The model behind them.
    pub fn model(&self) -> &'a Model<'a> {
        self.model
    }

    /// Launches of which times were measured.
    pub fn measured_launches(&self) -> usize {
        self.measured.as_ref().map_or(0, |known| known.alone.len())
    }

    /// What a launch costs beside its work.
    pub fn launch_nanoseconds(&self) -> f64 {
        self.model.launch_nanoseconds()
    }

    /// Nanoseconds of a launch of its own.
    pub fn single_launch(&self, launch: LaunchId) -> f64 {
        let known = self.measured.as_ref();
        let known = known.and_then(|known| known.alone.get(&launch));
        known.map_or_else(
            || self.model.single_launch(launch),
            |time| time.max(self.launch_nanoseconds()),
        )
    }

    /// Whether the group itself was measured.
    pub fn is_measured(&self, group: &FusionGroup) -> bool {
        self.ratio(group).is_some()
    }

    /// Nanoseconds of a group as one launch.
    pub fn together(&self, group: &FusionGroup) -> f64 {
        let modelled = self.model.together(group);
        if self.measured_launches() == 0 {
            return modelled;
        }
        let launch = self.launch_nanoseconds();
        let work = |time: f64| (time - launch).max(0.0);
        let members = || group.members.iter().map(|member| member.launch);
        let apart: f64 = members().map(|each| work(self.single_launch(each))).sum();
        let before = members().map(|each| work(self.model.single_launch(each)));
        let before: f64 = before.sum();
        let own = match self.ratio(group) {
            Some(ratio) => {
                let launches: f64 = members().map(|each| self.single_launch(each)).sum();
                work(launches * ratio)
            }
            None if before > 0.0 => work(modelled) * apart / before,
            None => work(modelled),
        };
        launch + own
    }

    /// What a measured group took, as a part of what its members took.
    fn ratio(&self, group: &FusionGroup) -> Option<f64> {
        let known = self.measured.as_ref()?;
        let times = known
            .results
            .of_group(&(known.key_of)(group), group.members.len())?;
        let apart: f64 = times.apart.iter().sum();
        (apart > 0.0).then(|| times.together / apart)
    }
}
