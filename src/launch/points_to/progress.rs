//! Which functions have to be looked at again.
//!
//! Invariant: a function is passed over only where nothing that its last evaluation read has changed since that began: its
//! own values, its parameters, what its callees return, and objects, their contents and who reaches them. What changes
//! names or limits counts for all.

use std::cell::{Cell, RefCell};

/// When what changed, and what each function read.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The number of changes so far.
    now: u64,
    /// The last change that counts for everyone.
    everyone: u64,
    /// By object.
    objects: Vec<u64>,
    /// By function: its values and its parameters.
    inputs: Vec<u64>,
    /// By function.
    returns: Vec<u64>,
    /// Of each function the change before its last evaluation, and what that read.
    evaluations: Vec<Option<Evaluation>>,
    /// An evaluation is under way, and this is what it has read.
    records: Cell<bool>,
    read_objects: RefCell<Vec<usize>>,
    read_returns: RefCell<Vec<usize>>,
}

/// What an evaluation of a function rests on.
#[derive(Debug)]
struct Evaluation {
    began: u64,
    objects: Vec<usize>,
    returns: Vec<usize>,
}

impl Progress {
    /// Nobody has looked at any of so many functions.
    pub(super) fn of(functions: usize) -> Self {
        Self {
            inputs: vec![0; functions],
            returns: vec![0; functions],
            evaluations: (0..functions).map(|_| None).collect(),
            ..Self::default()
        }
    }

    pub(super) fn add_object(&mut self) {
        self.objects.push(0);
    }

    pub(super) fn object_changed(&mut self, object: usize) {
        self.now += 1;
        self.objects[object] = self.now;
    }

    /// The last change of an object.
    pub(super) fn last_change(&self, object: usize) -> u64 {
        self.objects[object].max(self.everyone)
    }

    /// The last change that counts for all, such as one of names.
    pub(super) fn last_change_of_all(&self) -> u64 {
        self.everyone
    }

    pub(super) fn input_changed(&mut self, function: usize) {
        self.now += 1;
        self.inputs[function] = self.now;
    }

    pub(super) fn return_changed(&mut self, function: usize) {
        self.now += 1;
        self.returns[function] = self.now;
    }

    pub(super) fn everything_changed(&mut self) {
        self.now += 1;
        self.everyone = self.now;
    }

    pub(super) fn reads_object(&self, object: usize) {
        if self.records.get() {
            self.read_objects.borrow_mut().push(object);
        }
    }

    pub(super) fn reads_return(&self, function: usize) {
        if self.records.get() {
            self.read_returns.borrow_mut().push(function);
        }
    }

    /// Whether an evaluation of a function could find anything that the last one did not.
    pub(super) fn is_due(&self, function: usize) -> bool {
        let Some(last) = &self.evaluations[function] else {
            return true;
        };
        let later = |change: &u64| *change > last.began;
        later(&self.everyone)
            || later(&self.inputs[function])
            || last
                .objects
                .iter()
                .any(|object| later(&self.objects[*object]))
            || last
                .returns
                .iter()
                .any(|callee| later(&self.returns[*callee]))
    }

    /// An evaluation begins.
    pub(super) fn begin(&mut self, function: usize) {
        self.evaluations[function] = Some(Evaluation {
            began: self.now,
            objects: Vec::new(),
            returns: Vec::new(),
        });
        self.records.set(true);
    }

    /// It has ended.
    pub(super) fn end(&mut self, function: usize) {
        self.records.set(false);
        let distinct = |list: &mut Vec<usize>| {
            list.sort_unstable();
            list.dedup();
            std::mem::take(list)
        };
        if let Some(evaluation) = &mut self.evaluations[function] {
            evaluation.objects = distinct(self.read_objects.get_mut());
            evaluation.returns = distinct(self.read_returns.get_mut());
        }
    }
}
