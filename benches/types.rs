//! What it costs to analyse a datatype of many blocks: nanoseconds a block, and the bytes of its table.
//!
//! ```text
//! cargo bench --bench types
//! ```
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a benchmark may stop")]

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use tempi::ir::{Bounds, Describe, Layout, LeafRef, Lengths, Node, Runs, layout};

/// Lists of doubles as an MPI describes them: copies of the arguments, like those that `MPI_Type_get_contents` makes.
struct Lists<'a> {
    counts: &'a Lengths,
    displacements: &'a [i64],
    size: i64,
}

impl Describe for Lists<'_> {
    /// The list, or its element.
    type Type = bool;
    type Error = Infallible;

    fn node(&self, list: bool) -> Result<Node<bool>, Infallible> {
        Ok(if list {
            let (counts, displacements) = (self.counts.clone(), self.displacements.to_vec());
            Node::Indexed { counts, displacements, child: false }
        } else {
            Node::Named
        })
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
    println!("{:34} {:>10} {:>12} {:>14}", "blocks", "ns/block", "us", "table bytes");
    for n in [4096_i64, 1 << 20] {
        // Every place once, in an order that looks like none.
        let scattered: Vec<i64> = (0..n).map(|i| i * 7_368_787 % n * 3).collect();
        let mut sorted = scattered.clone();
        sorted.sort_unstable();
        // Ascending with gaps that vary.
        let gaps: Vec<i64> = sorted.iter().map(|place| place + place * 7919 % 2).collect();
        let lengths = Lengths::Each((0..n).map(|i| 1 + i * 31 % 2).collect());
        for (name, counts, displacements) in [
            ("doubles, regular", Lengths::Equal(1), &sorted),
            ("doubles, ascending", Lengths::Equal(1), &gaps),
            ("doubles, scattered", Lengths::Equal(1), &scattered),
            ("one or two doubles, scattered", lengths, &scattered),
        ] {
            measure(&format!("{n} {name}"), &counts, displacements);
        }
    }
}

fn measure(name: &str, counts: &Lengths, displacements: &[i64]) {
    let blocks = i64::try_from(displacements.len()).unwrap();
    let elements = match counts {
        Lengths::Equal(count) => count * blocks,
        Lengths::Each(counts) => counts.iter().sum(),
    };
    let lists = Lists { counts, displacements, size: 8 * elements };
    let mut best = f64::MAX;
    let mut bytes = 0;
    for _ in 0..15 {
        let start = Instant::now();
        let layout = black_box(layout(&lists, true).unwrap());
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
        bytes = table_bytes(&layout);
    }
    println!("{name:34} {:>10.2} {:>12.1} {bytes:>14}", best / blocks as f64, best / 1e3);
}

fn table_bytes(layout: &Layout) -> usize {
    let of = |leaf| match leaf {
        LeafRef::Strided(_) => 0,
        LeafRef::Blocks(blocks) => match blocks.table.runs() {
            Runs::Narrow { offsets, .. } => 4 * offsets.len(),
            Runs::Wide(offsets) => 8 * offsets.len(),
            Runs::Mixed(runs) => 16 * runs.len(),
        },
    };
    layout.leaves().map(|(_, leaf)| of(leaf)).sum()
}
