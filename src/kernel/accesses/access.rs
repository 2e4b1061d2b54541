//! Loads, stores, atomics and memory intrinsics -> [`Access`]es.

use super::super::address::{Address, Root, roots};
use super::super::body::{BlockRef, Body, ValueRef};
use super::super::bounded::{ONLY_BOUNDED, Openness};
use super::super::cfg::Flow;
use super::super::domain::{Conditions, Domain, Domains, discharge_all, merge};
use super::super::features::{Rows, Touch};
use super::super::ranges::plausible;
use super::super::space::{QuotientDimension, Space, UnknownDimension};
use super::super::walk::{Choices, Obstacle, Quantity, Reading, Walk, scaled};
use super::super::{Access, AccessId, AccessKind, Loop, Target};
use crate::math::affine::{Affine, Constraint, Variable};
use std::collections::BTreeSet;

/// Collects the accesses of one kernel.
pub struct Collector<'a> {
    /// The kernel.
    pub body: &'a Body,
    /// Its control flow.
    pub flow: &'a Flow,
    /// By-value arguments that the kernel writes.
    pub changed_arguments: &'a BTreeSet<usize>,
    /// Parameters and products.
    pub space: Space,
    /// Domains; `None` when control flow is irreducible.
    pub domains: Option<Domains<'a>>,
    /// What has been found.
    pub accesses: Vec<Access>,
    /// What it rests on.
    pub conditions: Conditions,
    /// Loops over the rows of tiles, numbered behind those of the control flow.
    pub row_loops: Vec<Loop>,
    /// The kernel gives addresses of shared memory away, so that a generic pointer from elsewhere may be one.
    pub gives_shared_away: bool,
}

/// More alternatives of one pointer are given up.
const ALTERNATIVES: usize = 24;

impl Collector<'_> {
    /// Adds what an instruction touches.
    pub fn touch(&mut self, at: ValueRef, block: BlockRef, touch: &Touch) {
        let roots = touched_roots(self.body, self.changed_arguments, touch);
        if roots
            .iter()
            .all(|root| matches!(root, Root::Local | Root::Null | Root::ByValue(_)))
        {
            return;
        }
        let domain = match &mut self.domains {
            Some(domains) => domains.block(&mut self.space, block),
            None => Domain {
                disjuncts: vec![Vec::new()],
                loops: self.flow.loops_of(block),
                conditions: Vec::new(),
                exact: false,
                why: "its control flow is not understood",
            },
        };
        let mut wraps = "it may wrap around";
        let mut alternatives = match (touch.pointer, touch.bytes, &self.domains) {
            (Some(pointer), Some(_), Some(_)) => {
                let exact = self.alternatives(pointer, block, &domain, Openness::Closed);
                exact.or_else(|why| {
                    wraps = why;
                    self.alternatives(pointer, block, &domain, Openness::Open)
                        .map_err(|_| why)
                })
            }
            (None, ..) => Err("its origin is not known"),
            _ => Err("how much it touches is not known"),
        };
        if let Ok(found) = &mut alternatives {
            found.retain(|(address, _)| {
                !matches!(address.root, Root::Local | Root::Null | Root::ByValue(_))
            });
        }
        match alternatives {
            Ok(found) => {
                for (address, domain) in found {
                    self.precise(at, touch, address, domain, wraps);
                }
            }
            Err(why) => {
                for root in roots {
                    self.vague(at, touch, &root, &domain, why);
                }
            }
        }
    }

    /// Every way in which the pointer can come about, with its domain.
    fn alternatives(
        &mut self,
        pointer: ValueRef,
        block: BlockRef,
        domain: &Domain,
        openness: Openness,
    ) -> Result<Vec<(Address, Domain)>, &'static str> {
        let mut found = Vec::new();
        let mut pending = vec![(Choices::new(), domain.clone())];
        let mut tried = 0;
        while let Some((choices, domain)) = pending.pop() {
            tried += 1;
            if tried > ALTERNATIVES {
                return Err("it has too many cases");
            }
            let mut walk = Walk::new(
                self.body,
                self.flow,
                &mut self.space,
                self.changed_arguments,
                choices.clone(),
            )
            .opened(openness);
            let address = walk.address(pointer).and_then(|address| {
                let offset = walk.seen_from(address.offset, block)?;
                Ok(Address {
                    root: address.root,
                    offset,
                })
            });
            match address {
                Ok(address) => found.push((address, domain)),
                Err(Obstacle::Unknown(why)) => return Err(why),
                Err(Obstacle::Choice(value, ways)) => {
                    for way in (0..ways).rev() {
                        let mut choices = choices.clone();
                        choices.insert(value, way);
                        let Some(domains) = &mut self.domains else {
                            return Err("its control flow is not understood");
                        };
                        let taken =
                            domains
                                .path_conditions
                                .choice(&mut self.space, value, way, block);
                        let narrowed = domains.narrow(&self.space, &domain, &taken);
                        pending.push((choices, narrowed));
                    }
                }
            }
        }
        Ok(found)
    }

    /// `wraps` is what to say of an offset that cannot be shown to be free of wraps.
    fn precise(
        &mut self,
        at: ValueRef,
        touch: &Touch,
        address: Address,
        domain: Domain,
        wraps: &'static str,
    ) {
        let mut address = Address {
            root: self.in_space(&address.root, touch.space),
            ..address
        };
        let mut domain = domain;
        let change = Quantity::certain(Affine::constant(touch.offset_bytes));
        let moved = address.offset.clone().combine(change, Affine::add);
        let rows = match (&moved, &touch.rows) {
            (Some(offset), Some(rows)) => self.rows(at, rows, offset, &mut domain),
            (moved, _) => moved.clone(),
        };
        match rows {
            Some(offset) => address.offset = offset,
            None => {
                let why = "the distance of its rows is not affine";
                return self.vague(at, touch, &address.root, &domain, why);
            }
        }
        let visible = self
            .space
            .loops_in(&address.offset.affine)
            .iter()
            .all(|index| domain.loops.contains(index));
        if !visible {
            return self.vague(
                at,
                touch,
                &address.root,
                &domain,
                "it is the last value of a loop",
            );
        }
        let opened = self.space.mentions_unknown(&address.offset.affine);
        let mut conditions = domain.conditions.clone();
        for known in &domain.disjuncts {
            let context = match &self.domains {
                Some(domains) => domains.context(&domain.loops, known),
                None => Default::default(),
            };
            match discharge_all(&self.space, &address.offset.obligations, &context) {
                Some(found) if !opened || plausible(&found) => merge(&mut conditions, found),
                _ => {
                    return self.vague(at, touch, &address.root, &domain, wraps);
                }
            }
        }
        merge(&mut self.conditions, conditions);
        // No instance takes this way.
        if domain.disjuncts.is_empty() {
            return;
        }
        let why = match domain.exact {
            true if opened => ONLY_BOUNDED,
            true => touch.why_inexact,
            false => domain.why,
        };
        let exact = why.is_empty() && domain.exact && !matches!(address.root, Root::Unknown(_));
        for target in self.targets(&address.root) {
            let known = !matches!(target, Target::Unknown | Target::UnknownShared);
            let subscript = known.then(|| address.offset.affine.clone());
            self.push(at, touch, target, subscript, &domain, exact, why);
        }
    }

    /// The start of each row of a tile: a loop of the model over the rows, which the domain gets.
    fn rows(
        &mut self,
        at: ValueRef,
        rows: &Rows,
        first: &Quantity,
        domain: &mut Domain,
    ) -> Option<Quantity> {
        let index = self.flow.loops.len() + self.row_loops.len();
        let counter = Affine::variable(Variable::Loop(index));
        let mut walk = Walk::new(
            self.body,
            self.flow,
            &mut self.space,
            self.changed_arguments,
            Choices::new(),
        );
        let stride = walk.read(rows.stride, Reading::Signed).ok()?;
        let stride = scaled(stride, i64::from(rows.element_bytes)).ok()?;
        let distance = self.space.multiply(&counter, &stride.affine)?;
        let mut start = first
            .clone()
            .combine(stride, |base, _| base.add(&distance))?;
        start.obligations.extend(first.obligations.iter().cloned());
        let last = Affine::constant(i64::from(rows.count) - 1).subtract(&counter)?;
        for known in &mut domain.disjuncts {
            known.push(Constraint::NonNegative(counter.clone()));
            known.push(Constraint::NonNegative(last.clone()));
        }
        self.row_loops.push(Loop {
            parent: domain.loops.last().copied(),
            uniform_in_block: true,
            location: self.body.value(at).location.clone(),
            quotient: None,
            unknown: None,
        });
        domain.loops.push(index);
        Some(start)
    }

    /// A root in the address space that an instruction names.
    fn in_space(&self, root: &Root, space: u32) -> Root {
        match root {
            Root::Unknown(0) => Root::Unknown(space),
            other => other.clone(),
        }
    }

    fn vague(&mut self, at: ValueRef, touch: &Touch, root: &Root, domain: &Domain, why: &str) {
        merge(&mut self.conditions, domain.conditions.clone());
        if domain.disjuncts.is_empty() {
            return;
        }
        for target in self.targets(root) {
            self.push(at, touch, target, None, domain, false, why);
        }
    }

    fn targets(&self, root: &Root) -> Vec<Target> {
        match root {
            Root::Argument {
                argument,
                offset_bytes,
            } => vec![Target::Argument {
                argument: *argument,
                offset_bytes: *offset_bytes,
            }],
            Root::Global(name) => vec![Target::Global(name.clone())],
            Root::Shared(name) => vec![Target::Shared(name.clone())],
            Root::Local | Root::Null | Root::ByValue(_) => Vec::new(),
            Root::Unknown(3) => vec![Target::UnknownShared],
            Root::Unknown(0) if self.gives_shared_away => {
                vec![Target::Unknown, Target::UnknownShared]
            }
            Root::Unknown(_) => vec![Target::Unknown],
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one access")]
    fn push(
        &mut self,
        at: ValueRef,
        touch: &Touch,
        target: Target,
        subscript: Option<Affine>,
        domain: &Domain,
        exact: bool,
        why: &str,
    ) {
        self.accesses.push(Access {
            id: AccessId(self.accesses.len()),
            kind: touch.kind,
            target,
            subscript,
            size_bytes: touch.bytes.unwrap_or(0),
            domain: domain.constraints(),
            loops: domain.loops.clone(),
            exact,
            why_inexact: why.to_owned(),
            invariant_load: touch.invariant && touch.kind == AccessKind::Read,
            volatile: touch.volatile,
            asynchronous: touch.asynchronous,
            place: at.0.saturating_sub(self.body.formals.len()),
            location: self.body.value(at).location.clone(),
        });
    }

    /// Adds to every domain the facts that tie its products and parameters together, drops what
    /// no access mentions and numbers the rest anew.
    pub fn finish(&mut self) {
        self.define_quotients();
        let mut used = Used::default();
        for access in &self.accesses {
            used.access(&self.space, access);
        }
        // A fact may mention the parameters that it ties to what is mentioned already.
        let products: Vec<_> = used.products.iter().copied().collect();
        let facts: Vec<_> = products
            .iter()
            .filter_map(|product| Some((*product, self.space.extent_fact(*product)?)))
            .collect();
        for access in &mut self.accesses {
            let mut own = Used::default();
            own.access(&self.space, access);
            for (product, fact) in &facts {
                let total_mentioned = fact.terms.iter().any(|(coefficient, variable)| {
                    *coefficient > 0
                        && matches!(variable, Variable::Parameter(index) if own.parameters.contains(index))
                });
                if own.products.contains(product) && total_mentioned {
                    for conjunction in &mut access.domain {
                        conjunction.push(Constraint::NonNegative(fact.clone()));
                    }
                }
            }
        }
        for index in used.parameters.clone() {
            let value = self.space.parameters[index].clone();
            if value.len() > 1
                && let Some(sum) = self.space.uniform(&value)
                && let Some(row) = sum.subtract(&Affine::variable(Variable::Parameter(index)))
            {
                for access in &mut self.accesses {
                    let mut own = Used::default();
                    own.access(&self.space, access);
                    if own.parameters.contains(&index) {
                        for conjunction in &mut access.domain {
                            conjunction.push(Constraint::Zero(row.clone()));
                        }
                    }
                }
            }
        }
        let mut used = Used::default();
        for access in &self.accesses {
            used.access(&self.space, access);
        }
        let products: Vec<_> = used.products.into_iter().collect();
        let parameters: Vec<_> = used.parameters.into_iter().collect();
        let quotients: Vec<_> = used.quotients.into_iter().collect();
        let first_quotient = self.flow.loops.len() + self.row_loops.len();
        let renumber = Renumbering {
            products: &products,
            parameters: &parameters,
            quotients: &quotients,
            first_quotient,
        };
        for access in &mut self.accesses {
            if let Some(subscript) = &mut access.subscript {
                *subscript = renumber.affine(subscript);
            }
            for index in &mut access.loops {
                *index = renumber.dimension(*index);
            }
            for constraint in access.domain.iter_mut().flatten() {
                *constraint = match constraint {
                    Constraint::NonNegative(row) => Constraint::NonNegative(renumber.affine(row)),
                    Constraint::Zero(row) => Constraint::Zero(renumber.affine(row)),
                };
            }
        }
        let mut space = Space {
            first_quotient,
            ..Space::default()
        };
        for index in &parameters {
            space.parameters.push(self.space.parameters[*index].clone());
        }
        for index in &products {
            let mut product = self.space.products[*index].clone();
            product.factor = renumber.affine(&product.factor);
            product.parameter = renumber.position(renumber.parameters, product.parameter);
            space.products.push(product);
        }
        for index in &quotients {
            if let Some(unknown) = self.space.as_unknown(&Variable::Loop(*index)) {
                space.unknowns.push(UnknownDimension {
                    least: renumber.affine(&unknown.least),
                    row: unknown.row.as_ref().map(|row| renumber.affine(row)),
                    ..unknown.clone()
                });
            }
            let Some(quotient) = self.space.as_quotient(&Variable::Loop(*index)) else {
                continue;
            };
            space.quotients.push(QuotientDimension {
                dividend: renumber.affine(&quotient.dividend),
                divisor: renumber.affine(&quotient.divisor),
                parameter: quotient.parameter.clone(),
                multiple: renumber.affine(&quotient.multiple),
            });
        }
        // Quotients come before numbers of unknown value.
        space.first_unknown = first_quotient + space.quotients.len();
        self.space = space;
    }

    /// Ties the quotients that a conjunction or subscript mentions to what they divide, and numbers of
    /// unknown value to their bounds.
    fn define_quotients(&mut self) {
        for access in &mut self.accesses {
            let mut by_subscript = Used::default();
            if let Some(subscript) = &access.subscript {
                by_subscript.affine(&self.space, subscript);
            }
            let mut all = BTreeSet::new();
            for conjunction in &mut access.domain {
                let mut used = Used {
                    quotients: by_subscript.quotients.clone(),
                    ..Used::default()
                };
                for constraint in conjunction.iter() {
                    used.constraint(&self.space, constraint);
                }
                for index in used.quotients {
                    let variable = Variable::Loop(index);
                    if let Some(quotient) = self.space.as_quotient(&variable) {
                        conjunction.extend(quotient.rows().map(Constraint::NonNegative));
                    }
                    if let Some(unknown) = self.space.as_unknown(&variable) {
                        let bounds = std::iter::once(Affine::variable(variable));
                        let bounds = bounds.chain(unknown.row.clone());
                        conjunction.extend(bounds.map(Constraint::NonNegative));
                    }
                    all.insert(index);
                }
            }
            access.loops.extend(all);
        }
    }
}

#[derive(Default)]
struct Used {
    products: BTreeSet<usize>,
    parameters: BTreeSet<usize>,
    /// As indices of loops.
    quotients: BTreeSet<usize>,
}

impl Used {
    fn access(&mut self, space: &Space, access: &Access) {
        if let Some(subscript) = &access.subscript {
            self.affine(space, subscript);
        }
        for constraint in access.domain.iter().flatten() {
            self.constraint(space, constraint);
        }
    }

    fn constraint(&mut self, space: &Space, constraint: &Constraint) {
        let (Constraint::NonNegative(row) | Constraint::Zero(row)) = constraint;
        self.affine(space, row);
    }

    fn affine(&mut self, space: &Space, affine: &Affine) {
        for (_, variable) in &affine.terms {
            match variable {
                Variable::Parameter(index) => {
                    self.parameters.insert(*index);
                }
                Variable::Product(index) => {
                    if self.products.insert(*index) {
                        let product = &space.products[*index];
                        self.parameters.insert(product.parameter);
                        self.affine(space, &product.factor);
                    }
                }
                Variable::Floor(inner, _) => self.affine(space, inner),
                Variable::Loop(index) => {
                    if let Some(quotient) = space.as_quotient(variable)
                        && self.quotients.insert(*index)
                    {
                        self.affine(space, &quotient.dividend);
                        self.affine(space, &quotient.divisor);
                        self.affine(space, &quotient.multiple);
                    }
                    if let Some(unknown) = space.as_unknown(variable)
                        && self.quotients.insert(*index)
                    {
                        self.affine(space, &unknown.least);
                        if let Some(row) = &unknown.row {
                            self.affine(space, row);
                        }
                    }
                }
                Variable::Block(_) | Variable::Thread(_) => {}
            }
        }
    }
}

struct Renumbering<'a> {
    products: &'a [usize],
    parameters: &'a [usize],
    /// As indices of loops.
    quotients: &'a [usize],
    first_quotient: usize,
}

impl Renumbering<'_> {
    fn position(&self, list: &[usize], old: usize) -> usize {
        // Every index was collected from the expressions that are renumbered.
        list.binary_search(&old).unwrap_or(old)
    }

    /// Loops of the kernel keep their index, quotients follow them without a gap.
    fn dimension(&self, old: usize) -> usize {
        match self.quotients.binary_search(&old) {
            Ok(position) => self.first_quotient + position,
            Err(_) => old,
        }
    }

    fn affine(&self, affine: &Affine) -> Affine {
        let mut terms: Vec<_> = affine
            .terms
            .iter()
            .map(|(coefficient, variable)| {
                let variable = match variable {
                    Variable::Parameter(index) => {
                        Variable::Parameter(self.position(self.parameters, *index))
                    }
                    Variable::Product(index) => {
                        Variable::Product(self.position(self.products, *index))
                    }
                    Variable::Loop(index) => Variable::Loop(self.dimension(*index)),
                    Variable::Floor(inner, divisor) => {
                        Variable::Floor(Box::new(self.affine(inner)), *divisor)
                    }
                    other => other.clone(),
                };
                (*coefficient, variable)
            })
            .collect();
        terms.sort_by(|a, b| a.1.cmp(&b.1));
        Affine {
            constant: affine.constant,
            terms,
        }
    }
}

/// Everything that an instruction may touch, without regard to offsets.
pub fn touched_roots(
    body: &Body,
    changed_arguments: &BTreeSet<usize>,
    touch: &Touch,
) -> BTreeSet<Root> {
    let Some(pointer) = touch.pointer else {
        return BTreeSet::from([Root::Unknown(touch.space)]);
    };
    roots(body, changed_arguments, pointer)
        .into_iter()
        .map(|root| match root {
            Root::Unknown(0) => Root::Unknown(touch.space),
            other => other,
        })
        .collect()
}
