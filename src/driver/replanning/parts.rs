//! Plans of given groups: what else belongs to a plan follows from them.

use super::super::facts::{Analysis, Facts, Refused};
use crate::dependence::SharedMemory;
use crate::schedule::{
    FusionGroup, FusionPlan, ScheduleOptions, find_dead_buffers, plan_batches,
    plan_persistent_loops, without_unbacked,
};
use crate::verify::VerifiedPlan;

impl Facts {
    /// A plan of these groups, issued in batches or not.
    ///
    /// # Errors
    /// The verifier refuses it.
    pub(super) fn plan_of(
        &self,
        groups: Vec<FusionGroup>,
        options: &ScheduleOptions,
        in_batches: bool,
    ) -> Result<VerifiedPlan, Box<Refused>> {
        let Self {
            graph,
            models,
            dependences,
        } = self;
        let mut batched_regions = Vec::new();
        if in_batches && options.launch_batches {
            let known = (models.as_slice(), &SharedMemory::new(graph, models));
            batched_regions = plan_batches(graph, known, dependences, &groups, options).0;
        }
        if in_batches {
            let known = (groups.as_slice(), &mut batched_regions);
            plan_persistent_loops(graph, models, dependences, known, options, usize::MAX);
        }
        let mut plan = FusionPlan {
            groups,
            batched_regions,
            ..FusionPlan::default()
        };
        plan = without_unbacked(graph, models, dependences, plan);
        if options.reserves_memory {
            plan.dead_buffers = find_dead_buffers(graph, models, &plan);
        }
        self.judge(plan)
    }
}

impl Analysis {
    /// A plan of these groups, issued in batches where the present one is.
    ///
    /// # Errors
    /// The verifier refuses it.
    pub(super) fn plan_of(&self, groups: Vec<FusionGroup>) -> Result<VerifiedPlan, Box<Refused>> {
        let regions = &self.plan.plan().batched_regions;
        let in_batches = regions.iter().any(|region| !region.for_graphs);
        // What overlaps depends on the rest of the plan.
        let groups = groups.into_iter();
        let groups = groups.filter(|group| group.overlap.is_none()).collect();
        let plan = self.facts.plan_of(groups, &self.options, in_batches)?;
        Ok(self.overlapped(self.waiting_for_graphs(plan)))
    }
}
