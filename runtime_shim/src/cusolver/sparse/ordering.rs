//! Orders of rows and columns in which factors stay sparse.

use std::collections::VecDeque;

/// Cuthill's and McKee's order, from the end: neighbours in the graph of a matrix, whose rows have elements in these
/// columns, come close to each other. The column that comes to each place.
pub fn reverse_cuthill_mckee(lines: &[Vec<usize>]) -> Vec<usize> {
    let size = lines.len();
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); size];
    for (row, columns) in lines.iter().enumerate() {
        for column in columns.iter().filter(|column| **column != row) {
            neighbours[row].push(*column);
            neighbours[*column].push(row);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let mut starts: Vec<usize> = (0..size).collect();
    starts.sort_by_key(|vertex| neighbours[*vertex].len());
    let mut placed = vec![false; size];
    let mut order = Vec::new();
    for start in starts {
        if placed[start] {
            continue;
        }
        let first = far_from(start, &neighbours);
        placed[first] = true;
        let mut open = VecDeque::from([first]);
        while let Some(vertex) = open.pop_front() {
            order.push(vertex);
            let mut next: Vec<usize> = neighbours[vertex].clone();
            next.retain(|other| !placed[*other]);
            next.sort_by_key(|other| neighbours[*other].len());
            for other in next {
                placed[other] = true;
                open.push_back(other);
            }
        }
    }
    order.reverse();
    order
}

/// A vertex of few neighbours that is as far as possible from others, near to which a search from `start` ends.
fn far_from(start: usize, neighbours: &[Vec<usize>]) -> usize {
    let (mut vertex, mut depth) = (start, 0);
    loop {
        let levels = levels(vertex, neighbours);
        let last = levels.last().into_iter().flatten().copied();
        let end = last.min_by_key(|other| neighbours[*other].len());
        match end {
            Some(end) if levels.len() > depth => (vertex, depth) = (end, levels.len()),
            _ => return vertex,
        }
    }
}

fn levels(start: usize, neighbours: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = std::collections::BTreeSet::from([start]);
    let mut levels = vec![vec![start]];
    loop {
        let mut next = Vec::new();
        for vertex in levels.last().into_iter().flatten() {
            next.extend(
                neighbours[*vertex]
                    .iter()
                    .filter(|other| seen.insert(**other)),
            );
        }
        if next.is_empty() {
            return levels;
        }
        levels.push(next);
    }
}
