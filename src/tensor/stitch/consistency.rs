//! Whether statements can share a kernel under a schedule: each has to have what it needs in its own threads.
//!
//! A schedule is propagated from statement to statement by their accesses: in a row schedule, the first dimensions of all of
//! them are the same rows, in a column schedule the last ones; and what one needs of another one has to be of its own row.
//! isl says so, from the dependences; nothing is believed of the template.

use super::statements::Named;
use super::template::Schedule;
use crate::tensor::Options;
use crate::tensor::linear::{Atom, Linear, Notation};
use crate::tensor::mapping::{Kernel, Mapping, Part, Plan, Work, joins, kernels};
use crate::tensor::program::Function;
use crate::tensor::transform::legality::is_parallel;
use crate::tensor::transform::rows::may_reorder;
use std::cell::RefCell;
use std::collections::HashMap;

/// What is known of pairs of statements: under which schedule the later one needs other rows of the earlier one.
pub(super) struct Consistency<'f> {
    function: &'f Function,
    options: Options,
    /// By statements and schedule: the dimension of rows on which they depend on each other, if they do.
    known: RefCell<HashMap<PairKey, Option<usize>>>,
}

/// Two statements by their addresses, and whether rows are the last of so many dimensions.
type PairKey = (usize, usize, bool, usize);

impl<'f> Consistency<'f> {
    pub fn new(function: &'f Function, options: Options) -> Self {
        Self {
            function,
            options,
            known: RefCell::default(),
        }
    }

    /// The kernels of one statement alone, a thread for each element.
    pub fn alone(&self, named: Named<'f>) -> Vec<Kernel<'f>> {
        kernels(
            self.function,
            named.statement,
            Mapping::Parallel,
            self.options.scatter,
        )
    }

    /// Statements as one kernel with a thread for each element, or the two that cannot share it.
    ///
    /// # Errors
    /// A sentence about them.
    pub fn elements(&self, all: &[Named<'f>]) -> Result<Vec<Kernel<'f>>, String> {
        let mut made: Vec<Kernel<'f>> = Vec::new();
        for (position, named) in all.iter().enumerate() {
            for kernel in self.alone(*named) {
                match made.last_mut() {
                    Some(last) if joins(self.function, last, &kernel) => {
                        last.parts.extend(kernel.parts);
                    }
                    None => made.push(kernel),
                    Some(_) if all.len() == 1 => made.push(kernel),
                    Some(_) => return Err(self.not_one_thread(&all[..position], *named)),
                }
            }
        }
        Ok(made)
    }

    /// Why a statement cannot go on in the threads of others.
    fn not_one_thread(&self, before: &[Named<'f>], named: Named<'f>) -> String {
        let own = self.alone(named);
        let name = named.name(self.function);
        for other in before {
            let first = self.alone(*other);
            let (Some(first), Some(second)) = (first.last(), own.first()) else {
                continue;
            };
            if joins(self.function, first, second) {
                continue;
            }
            let (of_first, of_second) =
                (self.extents(&first.threads), self.extents(&second.threads));
            let other = other.name(self.function);
            return match first.threads == second.threads && !first.threads.is_empty() {
                true => format!(
                    "'{name}' needs elements of '{other}' that other threads make, so that the two are no kernel of elements"
                ),
                false => format!(
                    "'{other}' has a thread for each of {of_first} and '{name}' for each of {of_second}, so that the two are no kernel of elements"
                ),
            };
        }
        format!("'{name}' cannot go on in the threads of the statements before it")
    }

    fn extents(&self, extents: &[Linear]) -> String {
        let each = extents.iter().map(|extent| self.text(extent));
        match extents.is_empty() {
            true => "one point".to_owned(),
            false => each.collect::<Vec<String>>().join(" x "),
        }
    }

    fn text(&self, form: &Linear) -> String {
        form.text(Notation::Message, &mut |atom| match atom {
            Atom::Symbol(symbol) => self.function.symbols[*symbol].name.clone(),
            _ => String::new(),
        })
    }

    /// A statement as a kernel of rows by itself.
    ///
    /// # Errors
    /// A sentence that says why it cannot be one.
    pub fn row(&self, named: Named<'f>, schedule: Schedule) -> Result<Kernel<'f>, String> {
        let name = named.name(self.function);
        let (is_column, dimensions) = dimensions(schedule);
        let kernels = self.alone(named);
        let kernel = match <[Kernel<'f>; 1]>::try_from(kernels) {
            Ok([kernel]) if !named.statement.scatter => kernel,
            _ => return Err(format!("'{name}' is a scatter, which has no rows")),
        };
        let Work::Compute { taken, .. } = &kernel.parts[0].work else {
            return Err(format!("'{name}' has no rows"));
        };
        if taken.len() != named.statement.free().count() {
            return Err(format!("'{name}' has indices whose ranges are not known"));
        }
        if taken.len() < dimensions {
            return Err(format!(
                "'{name}' has {} indices on the left, and {} have {dimensions}",
                taken.len(),
                if is_column { "columns" } else { "rows" },
            ));
        }
        let range = match is_column {
            true => taken.len() - dimensions..taken.len(),
            false => 0..dimensions,
        };
        let is_row = taken.len() == dimensions;
        let may_reorder = may_reorder(self.function, named.statement, self.options.reductions);
        if is_row && named.statement.reduced().next().is_some() && !may_reorder {
            return Err(format!(
                "the terms of '{name}' may only be joined in their order, as --sirius-tc-reductions=ordered says"
            ));
        }
        Ok(Kernel {
            threads: kernel.threads[range.clone()].to_vec(),
            parts: vec![Part {
                statement: named.statement,
                work: Work::Compute {
                    taken: taken[range].to_vec(),
                    atomic: false,
                },
            }],
            plan: Plan::Elements,
        })
    }

    /// Statements as one kernel of rows, not yet planned.
    ///
    /// # Errors
    /// A sentence about those that cannot share it.
    pub fn rows(&self, all: &[Named<'f>], schedule: Schedule) -> Result<Kernel<'f>, String> {
        let mut joined: Option<Kernel<'f>> = None;
        for count in 1..=all.len() {
            self.add_row(&mut joined, &all[..count], schedule)?;
        }
        joined.ok_or_else(|| "a kernel has at least one statement".to_owned())
    }

    /// Adds the last one of some statements to the kernel of rows that the others are.
    ///
    /// # Errors
    /// A sentence that says why it cannot share it.
    pub fn add_row(
        &self,
        kernel: &mut Option<Kernel<'f>>,
        all: &[Named<'f>],
        schedule: Schedule,
    ) -> Result<(), String> {
        let Some((named, before)) = all.split_last() else {
            return Ok(());
        };
        let own = self.row(*named, schedule)?;
        if self.depends(*named, *named, schedule).is_some() {
            let name = named.name(self.function);
            return Err(format!(
                "the rows of '{name}' are not independent of each other"
            ));
        }
        if let (Some(kernel), Some(first)) = (&kernel, before.first())
            && kernel.threads != own.threads
        {
            let what = match dimensions(schedule) {
                (true, _) => "a column",
                (false, _) => "a row",
            };
            return Err(format!(
                "'{}' has {what} for each of {} and '{}' for each of {}",
                first.name(self.function),
                self.extents(&kernel.threads),
                named.name(self.function),
                self.extents(&own.threads),
            ));
        }
        for other in before {
            if let Some(dimension) = self.depends(*other, *named, schedule) {
                return Err(self.not_one_row(*other, *named, (schedule, dimension)));
            }
        }
        match kernel {
            Some(kernel) => kernel.parts.extend(own.parts),
            None => *kernel = Some(own),
        }
        Ok(())
    }

    fn not_one_row(
        &self,
        first: Named<'f>,
        second: Named<'f>,
        (schedule, dimension): (Schedule, usize),
    ) -> String {
        let index = self.row(second, schedule).ok().and_then(|kernel| {
            let Work::Compute { taken, .. } = &kernel.parts[0].work else {
                return None;
            };
            let index = *taken.get(dimension)?;
            Some(second.statement.variables[index].name.clone())
        });
        let what = if dimensions(schedule).0 {
            "columns"
        } else {
            "rows"
        };
        format!(
            "'{}' and '{}' cannot share {what}: an element of one depends on elements of the other with another value of '{}'",
            second.name(self.function),
            first.name(self.function),
            index.unwrap_or_default(),
        )
    }

    /// The dimension of rows on which two statements that both have them depend on each other.
    pub fn depends(&self, a: Named<'f>, b: Named<'f>, schedule: Schedule) -> Option<usize> {
        let (is_column, count) = dimensions(schedule);
        let address = |named: Named<'f>| std::ptr::from_ref(named.statement) as usize;
        let key = (address(a), address(b), is_column, count);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let both = self.row(a, schedule).and_then(|mut kernel| {
            if address(a) != address(b) {
                kernel.parts.extend(self.row(b, schedule)?.parts);
            }
            Ok(kernel)
        });
        let found = match both {
            Ok(kernel) => {
                (0..count).find(|dimension| !is_parallel(self.function, &kernel, *dimension))
            }
            Err(_) => Some(0),
        };
        self.known.borrow_mut().insert(key, found);
        found
    }
}

/// Whether rows are the last dimensions, and how many these are.
fn dimensions(schedule: Schedule) -> (bool, usize) {
    match schedule {
        Schedule::Column { dimensions, .. } => (true, dimensions),
        Schedule::Row { dimensions, .. } => (false, dimensions),
        Schedule::Elements | Schedule::Tiles => (false, 0),
    }
}
