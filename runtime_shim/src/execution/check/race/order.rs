//! What atomic and volatile accesses order.
//!
//! Whatever a thread did before it stored to a place atomically (an update, a volatile store) comes before what
//! another does after it loaded from that place, and so on over further threads and places. Barriers of a block or a
//! cluster and operations of a warp carry this to their other threads. A fence is not asked for. Where there is doubt, accesses
//! are ordered.

use std::collections::{HashMap, HashSet};

use super::shadow::Visit;
use crate::execution::warp::WARP_LANES;

/// A thread of a launch: its cluster, its block and itself.
type Thread = (u32, u32, u16);

/// Where something is that threads meet at: an address, or one of a block's own shared memory.
pub type Place = (u32, usize);

/// When a thread did something.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    time: u32,
    interval: u32,
    warp_operations: u32,
    arrived: u32,
    waited: u32,
}

/// What a thread did last at a place; times of 0 are never.
#[derive(Clone, Copy, Debug, Default)]
struct Meeting {
    released: Moment,
    acquired: Moment,
    /// The last one before another operation of its warp, and before another barrier.
    acquired_before_operation: Moment,
    acquired_before_barrier: Moment,
}

/// All such meetings of a launch.
#[derive(Debug, Default)]
pub struct Order {
    /// Atomic accesses so far.
    now: u32,
    meetings: HashMap<(Thread, Place), Meeting>,
    places: HashMap<Thread, Vec<Place>>,
    threads: HashMap<u32, Vec<Thread>>,
    visitors: HashMap<Place, Vec<Thread>>,
    /// Up to when visits of the first thread are known to come before what the second one does.
    known: HashMap<(Thread, Thread), u32>,
}

/// Meetings after which a launch is too crowded to tell; what its threads do is taken as ordered.
const MOST_MEETINGS: usize = 1 << 22;

/// Threads that a search goes through before it takes two accesses as ordered.
const MOST_SEARCHED: usize = 1 << 16;

impl Order {
    /// Forgets a launch.
    pub fn clear(&mut self) {
        if self.now > 0 {
            *self = Self::default();
        }
    }

    /// Atomic accesses so far.
    pub fn now(&self) -> u32 {
        self.now
    }

    /// A thread has accessed a place atomically.
    pub fn meet(&mut self, visit: &Visit, place: Place, loads: bool, stores: bool) {
        self.now += 1;
        if self.is_crowded() {
            return;
        }
        let thread = thread_of(visit);
        let meeting = self.meetings.entry((thread, place)).or_insert_with(|| {
            let places = self.places.entry(thread).or_default();
            if places.is_empty() {
                self.threads.entry(thread.0).or_default().push(thread);
            }
            places.push(place);
            self.visitors.entry(place).or_default().push(thread);
            Meeting::default()
        });
        let moment = Moment {
            time: self.now,
            interval: visit.interval,
            warp_operations: visit.warp_operations,
            arrived: visit.arrived,
            waited: visit.waited(),
        };
        if loads {
            let before = meeting.acquired;
            if (before.interval, before.arrived) != (moment.interval, moment.arrived) {
                meeting.acquired_before_barrier = before;
            }
            if before.warp_operations != moment.warp_operations {
                meeting.acquired_before_operation = before;
            }
            meeting.acquired = moment;
        }
        if stores {
            meeting.released = moment;
        }
    }

    /// Whether one visit comes before a later one that happens now.
    pub fn orders(&mut self, earlier: &Visit, later: &Visit) -> bool {
        if self.now <= earlier.time {
            return false;
        }
        if self.is_crowded() {
            return true;
        }
        let pair = (thread_of(earlier), thread_of(later));
        if self
            .known
            .get(&pair)
            .is_some_and(|until| *until >= earlier.time)
        {
            return true;
        }
        let ordered = self.search(earlier, later);
        if ordered {
            self.known.insert(pair, earlier.time);
        }
        ordered
    }

    fn is_crowded(&self) -> bool {
        self.meetings.len() >= MOST_MEETINGS
    }

    fn search(&self, earlier: &Visit, later: &Visit) -> bool {
        let acquired: HashSet<Place> = self
            .meetings_of(later.cluster)
            .filter(|(thread, _, meeting)| {
                let moments = [
                    meeting.acquired,
                    meeting.acquired_before_operation,
                    meeting.acquired_before_barrier,
                ];
                moments
                    .into_iter()
                    .any(|moment| moment.time > earlier.time && comes_first(*thread, moment, later))
            })
            .map(|(_, place, _)| place)
            .collect();
        if acquired.is_empty() {
            return false;
        }
        let mut open: Vec<Place> = self
            .meetings_of(earlier.cluster)
            .filter(|(thread, _, meeting)| {
                let moment = meeting.released;
                moment.time > earlier.time && comes_after(*thread, moment, earlier)
            })
            .map(|(_, place, _)| place)
            .collect();
        let mut seen: HashSet<Place> = open.iter().copied().collect();
        let mut clusters = HashSet::new();
        let mut searched = 0;
        while let Some(place) = open.pop() {
            if acquired.contains(&place) {
                return true;
            }
            for thread in self.visitors.get(&place).into_iter().flatten() {
                searched += 1;
                if searched > MOST_SEARCHED {
                    return true;
                }
                let meeting = self.meetings.get(&(*thread, place));
                let came = meeting.is_some_and(|meeting| meeting.acquired.time > earlier.time);
                if !came || !clusters.insert(thread.0) {
                    continue;
                }
                for (_, next, meeting) in self.meetings_of(thread.0) {
                    if meeting.released.time > earlier.time && seen.insert(next) {
                        open.push(next);
                    }
                }
            }
        }
        false
    }

    fn meetings_of(&self, cluster: u32) -> impl Iterator<Item = (Thread, Place, Meeting)> {
        let threads = self.threads.get(&cluster).into_iter().flatten();
        threads.flat_map(|thread| {
            let places = self.places.get(thread).into_iter().flatten();
            places.filter_map(|place| {
                let meeting = self.meetings.get(&(*thread, *place))?;
                Some((*thread, *place, *meeting))
            })
        })
    }
}

fn thread_of(visit: &Visit) -> Thread {
    (visit.cluster, visit.block, visit.thread)
}

fn warp(thread: u16) -> usize {
    usize::from(thread) / WARP_LANES
}

/// Whether what a thread did at a moment comes before a visit of its cluster.
fn comes_first(thread: Thread, moment: Moment, visit: &Visit) -> bool {
    let own = thread_of(visit);
    let in_warp = warp(thread.2) == warp(own.2);
    let in_block = moment.interval < visit.interval
        || in_warp && moment.warp_operations < visit.warp_operations;
    thread == own || thread.1 == own.1 && in_block || moment.arrived < visit.waited()
}

/// Whether what a thread did at a moment comes after a visit of its cluster.
fn comes_after(thread: Thread, moment: Moment, visit: &Visit) -> bool {
    let own = thread_of(visit);
    let in_warp = warp(thread.2) == warp(own.2);
    let in_block = moment.interval > visit.interval
        || in_warp && moment.warp_operations > visit.warp_operations;
    thread == own || thread.1 == own.1 && in_block || visit.arrived < moment.waited
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(order: &Order, block: u32, thread: u16, interval: u32) -> Visit {
        Visit {
            block,
            cluster: block,
            thread,
            atomic: false,
            waits: false,
            arrived: 0,
            interval,
            warp_operations: 0,
            time: order.now(),
            site: 0,
        }
    }

    #[test]
    fn a_counter_orders_what_came_before_it() {
        let mut order = Order::default();
        let written = visit(&order, 0, 40, 0);
        let ticket = visit(&order, 0, 0, 1);
        order.meet(&ticket, (0, 8), true, true);
        let late = visit(&order, 0, 40, 1);
        // The other block has not been at the counter yet.
        assert!(!order.orders(&written, &visit(&order, 1, 40, 1)));
        let ticket = visit(&order, 1, 0, 0);
        order.meet(&ticket, (0, 8), true, true);
        assert!(order.orders(&written, &visit(&order, 1, 0, 0)));
        // Without a barrier behind the counter nothing is, with one everything that came before it.
        assert!(!order.orders(&written, &visit(&order, 1, 40, 0)));
        assert!(order.orders(&written, &visit(&order, 1, 40, 1)));
        assert!(!order.orders(&late, &visit(&order, 1, 40, 1)));
    }

    #[test]
    fn order_goes_over_other_threads() {
        let mut order = Order::default();
        let written = visit(&order, 0, 0, 0);
        order.meet(&visit(&order, 0, 0, 0), (0, 8), false, true);
        order.meet(&visit(&order, 1, 0, 0), (0, 8), true, false);
        order.meet(&visit(&order, 1, 0, 0), (0, 16), false, true);
        assert!(!order.orders(&written, &visit(&order, 2, 0, 0)));
        order.meet(&visit(&order, 2, 0, 0), (0, 16), true, false);
        assert!(order.orders(&written, &visit(&order, 2, 0, 0)));
        // A place that nobody of them wrote to orders nothing.
        order.meet(&visit(&order, 3, 0, 0), (0, 24), true, true);
        assert!(!order.orders(&written, &visit(&order, 3, 0, 0)));
    }
}
