//! Products of sums in which products stand, taken apart: `(row + q) · p` with `q = image · rows` is `row · p` and
//! `image · (rows · p)`, as another kernel may have written the same place.
//!
//! Invariant: an access says the same as before, by products that were there and more behind them. Their parameters
//! are products of such that are not negative.

use super::member::Member;
use super::polynomial::Polynomial;
use crate::affine::{Affine, Constraint, Variable};
use crate::kernel::{Access, KernelModel, Product};

/// The model of a kernel and its parameters at a launch, with products of one access taken apart.
pub(super) struct TakenApart {
    model: KernelModel,
    parameters: Vec<Polynomial>,
    /// The access.
    pub(super) access: Access,
}

impl TakenApart {
    /// `None` where no product stands in another, or numbers grow too large.
    pub(super) fn of(member: &Member<'_>, access: &Access) -> Option<Self> {
        let is_product = |(_, variable): &(i64, Variable)| matches!(variable, Variable::Product(_));
        let mut products = member.model.products.iter();
        if !products.any(|product| product.factor.terms.iter().any(is_product)) {
            return None;
        }
        let mut apart = Self {
            model: member.model.clone(),
            parameters: member.parameters.clone(),
            access: access.clone(),
        };
        apart.access.subscript = Some(apart.affine(access.subscript.as_ref()?)?);
        let mut domain = access.domain.clone();
        for constraint in domain.iter_mut().flatten() {
            let (Constraint::NonNegative(affine) | Constraint::Zero(affine)) = constraint;
            *affine = apart.affine(affine)?;
        }
        apart.access.domain = domain;
        Some(apart)
    }

    /// The launch with it.
    pub(super) fn member<'a>(&'a self, of: &Member<'a>) -> Member<'a> {
        Member {
            launch: of.launch,
            model: &self.model,
            extents: of.extents.clone(),
            dynamic_shared_bytes: of.dynamic_shared_bytes,
            parameters: self.parameters.clone(),
            places: Vec::new(),
        }
    }

    fn affine(&mut self, affine: &Affine) -> Option<Affine> {
        let mut sum = Affine::constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let term = match variable {
                Variable::Product(index) => self.product(*index)?,
                _ => Affine::variable(variable.clone()),
            };
            sum = sum.add(&term.scale(*coefficient)?)?;
        }
        Some(sum)
    }

    /// A product as a sum of some whose factors have none.
    fn product(&mut self, index: usize) -> Option<Affine> {
        let product = self.model.products.get(index)?.clone();
        let factor = self.affine(&product.factor)?;
        let step = self.parameters.get(product.parameter)?.clone();
        let mut sum = Affine::constant(0);
        let mut rest = Affine::constant(factor.constant);
        for (coefficient, variable) in &factor.terms {
            let Variable::Product(inner) = variable else {
                let term = Affine::variable(variable.clone()).scale(*coefficient)?;
                rest = rest.add(&term)?;
                continue;
            };
            let inner = self.model.products.get(*inner)?.clone();
            let own = self.parameters.get(inner.parameter)?.multiply(&step)?;
            let term = self.scaled(inner.factor, own).scale(*coefficient)?;
            sum = sum.add(&term)?;
        }
        if rest == Affine::constant(0) {
            return Some(sum);
        }
        let rest = self.scaled(rest, step);
        sum.add(&rest)
    }

    /// The product of a factor with a parameter, a new one where there is none yet.
    fn scaled(&mut self, factor: Affine, step: Polynomial) -> Affine {
        let known = self.model.products.iter().position(|product| {
            product.factor == factor && self.parameters.get(product.parameter) == Some(&step)
        });
        let index = known.unwrap_or_else(|| {
            let same = self
                .parameters
                .iter()
                .position(|parameter| *parameter == step);
            let parameter = same.unwrap_or_else(|| {
                self.parameters.push(step);
                self.parameters.len() - 1
            });
            self.model.products.push(Product { factor, parameter });
            self.model.products.len() - 1
        });
        Affine::variable(Variable::Product(index))
    }
}
