//! isl's schedule as text, in the form of the paper's figure 3.

use super::{Planned, Segment, Strategy};
use crate::math::isl::schedule::{Affine, Member, Tree};
use crate::tensor::program::Statement;

/// What isl says of the statements of a definition, by the names that `name` gives them: lines with their depths.
pub fn lines(
    planned: &Planned<'_>,
    fusion: Strategy,
    name: &dyn Fn(&Statement) -> String,
) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    for segment in &planned.segments {
        let writer = Writer { segment, name };
        writer.segment(fusion, &mut lines);
    }
    lines
}

struct Writer<'s, 'f> {
    segment: &'s Segment<'f>,
    name: &'s dyn Fn(&Statement) -> String,
}

impl Writer<'_, '_> {
    fn segment(&self, fusion: Strategy, lines: &mut Vec<(usize, String)>) {
        let named = Strategy::NAMES.iter().find(|(_, each)| *each == fusion);
        let strategy = named.map_or("", |(name, _)| *name);
        lines.push((0, format!("schedule by isl, fusion {strategy}")));
        let mut depth = 1;
        if self.segment.groups.len() > 1 {
            lines.push((depth, "sequence".to_owned()));
            depth += 1;
        }
        for group in &self.segment.groups {
            lines.push((depth, format!("filter {{{}}}", self.names(&group.members))));
            if let Some(tree) = &group.tree {
                self.tree(tree, depth + 1, lines);
            }
            match (&group.nest, &group.apart) {
                (Err(why), _) => lines.push((depth + 1, format!("not used: {why}"))),
                (Ok(_), Some(why)) => {
                    lines.push((depth + 1, format!("inner loops are not shared: {why}")));
                }
                (Ok(_), None) => {}
            }
        }
        for (statement, others, why) in &self.segment.refusals {
            let (one, others) = (self.names(&[*statement]), self.names(others));
            lines.push((1, format!("{one} is not with {{{others}}}: {why}")));
        }
    }

    fn tree(&self, tree: &Tree, depth: usize, lines: &mut Vec<(usize, String)>) {
        match tree {
            Tree::Leaf => {}
            Tree::Sequence { ordered, children } => {
                let kind = if *ordered { "sequence" } else { "set" };
                lines.push((depth, kind.to_owned()));
                for (filter, child) in children {
                    lines.push((depth + 1, format!("filter {{{}}}", self.names(filter))));
                    self.tree(child, depth + 2, lines);
                }
            }
            Tree::Band {
                permutable,
                members,
                child,
            } => {
                let mut statements: Vec<usize> = members
                    .first()
                    .map(|member| {
                        member
                            .values
                            .iter()
                            .map(|(statement, _)| *statement)
                            .collect()
                    })
                    .unwrap_or_default();
                statements.sort_unstable();
                let each = statements.iter().map(|statement| {
                    let values = members.iter().map(|member| self.value(member, *statement));
                    let values: Vec<String> = values.collect();
                    format!("{} -> ({})", self.instance(*statement), values.join(", "))
                });
                let each: Vec<String> = each.collect();
                let coincident = members
                    .iter()
                    .map(|member| u8::from(member.coincident).to_string());
                let coincident: Vec<String> = coincident.collect();
                let permutable = if *permutable { " permutable," } else { "" };
                lines.push((
                    depth,
                    format!(
                        "band{permutable} coincident [{}]: {}",
                        coincident.join(", "),
                        each.join("; ")
                    ),
                ));
                self.tree(child, depth + 1, lines);
            }
        }
    }

    fn instance(&self, statement: usize) -> String {
        let own = self.segment.statements[statement];
        let indices = own.variables.iter().map(|variable| variable.name.as_str());
        let indices: Vec<&str> = indices.collect();
        format!("{}[{}]", (self.name)(own), indices.join(", "))
    }

    fn value(&self, member: &Member, statement: usize) -> String {
        let mut values = member.values.iter();
        match values.find(|(known, _)| *known == statement) {
            Some((_, Some(value))) => sum(self.segment.statements[statement], value),
            _ => "?".to_owned(),
        }
    }

    fn names(&self, statements: &[usize]) -> String {
        let each = statements.iter();
        let each = each.map(|statement| (self.name)(self.segment.statements[*statement]));
        each.collect::<Vec<String>>().join(", ")
    }
}

fn sum(statement: &Statement, value: &Affine) -> String {
    let indices = value.dimensions.iter().zip(&statement.variables);
    let indices = indices.map(|(factor, variable)| (variable.name.as_str(), *factor));
    let parameters = value.parameters.iter();
    let parameters = parameters.map(|(name, factor)| (name.as_str(), *factor));
    let mut text = String::new();
    for (name, factor) in indices.chain(parameters).filter(|(_, factor)| *factor != 0) {
        let sign = match (text.is_empty(), factor < 0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        text += sign;
        if factor.unsigned_abs() != 1 {
            text += &format!("{} * ", factor.unsigned_abs());
        }
        text += name;
    }
    match (text.is_empty(), value.constant) {
        (true, constant) => constant.to_string(),
        (false, 0) => text,
        (false, constant) if constant < 0 => format!("{text} - {}", constant.unsigned_abs()),
        (false, constant) => format!("{text} + {constant}"),
    }
}
