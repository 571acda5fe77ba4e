//! What it costs to analyse a datatype of many blocks: nanoseconds a block, and the bytes that its plan holds.
//!
//! ```text
//! cargo bench --bench types
//! ```
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a benchmark may stop")]

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use tempi::ir::{Block, Bounds, Describe, List, Node, layout};

/// A list of doubles as an MPI describes it: a copy of the arguments, like that of `MPI_Type_get_contents`.
struct Lists<'a> {
    list: &'a List,
    size: i64,
}

impl Describe for Lists<'_> {
    /// The list, or its element.
    type Type = bool;
    type Error = Infallible;

    fn node(&self, list: bool) -> Result<Node<bool>, Infallible> {
        Ok(if list { Node::Indexed { list: self.list.clone(), child: false } } else { Node::Named })
    }

    fn bounds(&self, _: bool) -> Result<Bounds, Infallible> {
        Ok(Bounds { lb: 0, extent: 8 })
    }

    fn size(&self, list: bool) -> Result<i64, Infallible> {
        Ok(if list { self.size } else { 8 })
    }

    fn release(&self, _: bool) {}
}

fn main() {
    println!("{:34} {:>10} {:>12} {:>14}", "blocks", "ns/block", "us", "plan bytes");
    for n in [4096_i64, 1 << 20] {
        // Every place once, in an order that looks like none.
        let scattered: Vec<i64> = (0..n).map(|i| i * 7_368_787 % n * 3).collect();
        let mut sorted = scattered.clone();
        sorted.sort_unstable();
        // Ascending with gaps that vary.
        let gaps: Vec<i64> = sorted.iter().map(|place| place + place * 7919 % 2).collect();
        let ones = |displacements: &[i64]| List::Equal { count: 1, displacements: displacements.to_vec() };
        let lengths = (0..n).map(|i| 1 + i * 31 % 2);
        let blocks = lengths.zip(&scattered).map(|(count, &displacement)| Block { displacement, count });
        for (name, list) in [
            ("doubles, regular", ones(&sorted)),
            ("doubles, ascending", ones(&gaps)),
            ("doubles, scattered", ones(&scattered)),
            ("one or two doubles, scattered", List::Each(blocks.collect())),
        ] {
            measure(&format!("{n} {name}"), &list);
        }
    }
}

fn measure(name: &str, list: &List) {
    let (blocks, elements) = match list {
        List::Equal { count, displacements } => {
            let blocks = i64::try_from(displacements.len()).unwrap();
            (blocks, count * blocks)
        }
        List::Each(blocks) => {
            (i64::try_from(blocks.len()).unwrap(), blocks.iter().map(|block| block.count).sum())
        }
    };
    let lists = Lists { list, size: 8 * elements };
    let mut best = f64::MAX;
    let mut bytes = 0;
    for _ in 0..15 {
        let start = Instant::now();
        let layout = black_box(layout(&lists, true).unwrap());
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
        bytes = layout.held();
    }
    println!("{name:34} {:>10.2} {:>12.1} {bytes:>14}", best / blocks as f64, best / 1e3);
}
