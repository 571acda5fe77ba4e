//! A datatype's constructors in words, as a person would read them.
//!
//! For explanations only: the MPI is asked everything once more. The invariant: as many lines as a screen has, whatever the type.
#![forbid(unsafe_code)]

use std::fmt::Display;

use super::describe::{Describe, Distribution, List, Node, Open, Order};

/// Numbers of a list that are shown.
const SHOWN: usize = 8;

/// Lines of an outline; one more says that there are others.
const LINES: usize = 40;

/// One line a constructor, each with its arguments as MPI calls them (MPI-4.1 sections 5.1.2 to 5.1.4), what it is made of
/// below it and further in.
pub fn outline<D: Describe>(describe: &D, datatype: D::Type) -> Vec<String> {
    let mut lines = Vec::new();
    add(describe, datatype, 0, &mut lines);
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…".to_owned());
    }
    lines
}

fn add<D: Describe>(describe: &D, datatype: D::Type, depth: usize, lines: &mut Vec<String>) {
    // Each level has a line, so that this bounds the recursion too.
    if lines.len() > LINES {
        return;
    }
    let indent = "  ".repeat(depth);
    let Ok(open) = Open::of(describe, datatype) else {
        return lines.push(format!("{indent}the MPI does not describe it"));
    };
    lines.push(format!("{indent}{}", words(describe, datatype, &open.node)));
    for child in open.node.children() {
        add(describe, *child, depth + 1, lines);
    }
}

fn words<D: Describe>(describe: &D, datatype: D::Type, node: &Node<D::Type>) -> String {
    let name = describe.name(datatype);
    let called = |otherwise: &str| name.clone().unwrap_or_else(|| otherwise.to_owned());
    let constructor = match node {
        Node::Named => {
            let bytes = describe.size(datatype).unwrap_or(0);
            return format!("{}, {bytes} bytes", called("predefined"));
        }
        Node::Pair { first, second_at, second } => {
            return format!("{}, {first} bytes and {second} at {second_at}", called("pair"));
        }
        Node::Dup(_) => "dup".to_owned(),
        Node::Resized(_) => match describe.bounds(datatype) {
            Ok(bounds) => format!("resized lb {} extent {}", bounds.lb, bounds.extent),
            Err(_) => "resized".to_owned(),
        },
        Node::Contiguous { count, .. } => format!("contiguous count {count}"),
        Node::Vector { count, block, stride, .. } => {
            format!("vector count {count} blocklength {block} stride {stride}")
        }
        Node::Hvector { count, block, stride, .. } => {
            format!("hvector count {count} blocklength {block} stride {stride} bytes")
        }
        Node::Indexed { list, .. } => blocks("indexed", list, ""),
        Node::Hindexed { list, .. } => blocks("hindexed", list, " bytes"),
        Node::Struct { counts, displacements, .. } => {
            let (count, lengths, places) = (counts.len(), some(counts), some(displacements));
            format!("struct count {count} blocklengths {lengths} displacements {places} bytes")
        }
        Node::Subarray { sizes, subsizes, starts, order, .. } => {
            let (sizes, subsizes, starts) = (some(sizes), some(subsizes), some(starts));
            format!("subarray sizes {sizes} subsizes {subsizes} starts {starts} order {}", letter(*order))
        }
        Node::Darray { size, rank, gsizes, distribs, dargs, psizes, order, .. } => {
            let distribs = distribs.iter().map(|distribution| match distribution {
                Distribution::Block => "block",
                Distribution::Cyclic => "cyclic",
                Distribution::None => "none",
            });
            let dargs = dargs.iter().map(|darg| darg.map_or_else(|| "default".to_owned(), |n| n.to_string()));
            format!(
                "darray rank {rank} of {size} gsizes {} distribs {} dargs {} psizes {} order {}",
                some(gsizes),
                some(distribs),
                some(dargs),
                some(psizes),
                letter(*order)
            )
        }
        Node::Irregular => "a constructor that is not known".to_owned(),
    };
    name.map_or_else(|| constructor.clone(), |name| format!("{constructor}, named {name}"))
}

fn letter(order: Order) -> &'static str {
    match order {
        Order::C => "C",
        Order::Fortran => "Fortran",
    }
}

fn blocks(constructor: &str, list: &List, unit: &str) -> String {
    match list {
        List::Equal { count, displacements } => {
            let (n, places) = (displacements.len(), some(displacements));
            format!("{constructor}_block count {n} blocklength {count} displacements {places}{unit}")
        }
        List::Each(blocks) => {
            let lengths = some(blocks.iter().map(|block| block.count));
            let places = some(blocks.iter().map(|block| block.displacement));
            format!(
                "{constructor} count {} blocklengths {lengths} displacements {places}{unit}",
                blocks.len()
            )
        }
    }
}

/// The first of some numbers.
fn some<T: Display>(numbers: impl IntoIterator<Item = T>) -> String {
    let mut numbers = numbers.into_iter();
    let first: Vec<String> = numbers.by_ref().take(SHOWN).map(|number| number.to_string()).collect();
    let more = if numbers.next().is_some() { " …" } else { "" };
    first.join(" ") + more
}
