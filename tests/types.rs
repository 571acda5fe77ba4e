//! The datatype engine against its oracle: named layouts, and a hundred thousand random ones.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // A test may panic.

mod recipe;

use std::convert::Infallible;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use recipe::case::{self, Case};
use recipe::expand::expand;
use recipe::random::{self, Rng};
use recipe::{Model, Recipe, soak};
use tempi::ir::{
    Blocks, Bounds, Describe, Dim, Failure, Layout, Leaf, MAX_DEPTH, MAX_PARTS, MAX_RUNS, Node, Runs,
    Strided, Type, Unsupported, canon, layout,
};

fn parse(line: &str) -> Recipe {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn analyse(recipe: &Recipe) -> Result<Layout, Unsupported> {
    let model = Model::default();
    let result = layout(&model, recipe).map_err(|failure| match failure {
        Failure::Unsupported(reason) => reason,
        Failure::Describe(never) => match never {},
    });
    assert_eq!(model.open.get(), 0, "child handles left open by {recipe}");
    result
}

fn of(line: &str) -> Result<Layout, Unsupported> {
    analyse(&parse(line))
}

/// The layout of a line that the oracle agrees with, in all that can be asked of it.
fn any(line: &str) -> Layout {
    let layout = of(line).unwrap_or_else(|reason| panic!("{line}: {reason}"));
    check(&parse(line), &layout, i64::MAX);
    layout
}

/// The same of a line that is regular.
fn checked(line: &str) -> Strided {
    match any(line) {
        Layout::Strided(strided) => strided,
        other => panic!("{line}: {other:?}"),
    }
}

/// The same of a line that is a table.
fn table(line: &str) -> Blocks {
    match any(line) {
        Layout::Blocks(blocks) => blocks,
        other => panic!("{line}: {other:?}"),
    }
}

fn strided(offset: i64, block: i64, dims: &[(i64, i64, i64)]) -> Strided {
    let dims: Vec<Dim> = dims.iter().map(|&(count, stride, packed)| Dim { count, stride, packed }).collect();
    let size = dims.iter().fold(block, |size, dim| size * dim.count);
    Strided { offset, block, dims, size }
}

/// The canonical form read off the offsets alone: the longest block, then for each digit the longest progression.
fn canonical(offsets: &[i64]) -> Option<Strided> {
    let size = offsets.len();
    let at = |place: usize| offsets[place];
    let int = |n: usize| i64::try_from(n).unwrap();
    if size == 0 {
        return Some(Strided::EMPTY);
    }
    let block = (1..size).find(|&p| at(p) != at(0) + int(p)).unwrap_or(size);
    let mut dims = Vec::new();
    let mut unit = block;
    while unit < size {
        if !size.is_multiple_of(unit) {
            return None;
        }
        let stride = at(unit) - at(0);
        let count =
            (1..size / unit).find(|&k| at(k * unit) != at(0) + int(k) * stride).unwrap_or(size / unit);
        dims.push((int(count), stride, int(unit)));
        unit *= count;
    }
    dims.sort_by_key(|&(_, stride, packed)| (stride.abs(), packed));
    let strided = strided(at(0), int(block), &dims);
    (int(size) == strided.size && expand(&Layout::Strided(strided.clone())) == offsets).then_some(strided)
}

/// The layout written as a tree again.
fn tree(strided: &Strided) -> Type {
    let mut dims = strided.dims.clone();
    dims.sort_by_key(|dim| dim.packed);
    let block = Type::Dense { bytes: strided.block };
    let around = |child: Type, dim: &Dim| Type::Stream {
        count: dim.count,
        stride: dim.stride,
        offset: 0,
        child: Box::new(child),
    };
    let child = dims.iter().fold(block, around);
    Type::Stream { count: 1, stride: 0, offset: strided.offset, child: Box::new(child) }
}

/// Compares `layout`, its repetitions and its prefixes with the oracle. Every prefix is tried where the type has at
/// most `prefixes` bytes, some of them otherwise.
fn check(recipe: &Recipe, layout: &Layout, prefixes: i64) {
    let offsets = case::offsets(recipe, 1);
    assert_eq!(expand(layout), offsets, "{recipe}");
    let span = offsets.iter().min().map_or((0, 0), |lo| (*lo, offsets.iter().max().unwrap() + 1));
    assert_eq!(layout.span(), Some(span), "{recipe}");
    assert_eq!(layout.first(), offsets.first().copied().unwrap_or(0), "{recipe}");
    // What can be regular is regular, and in the one form for it.
    match (canonical(&offsets), layout) {
        (Some(regular), Layout::Strided(strided)) => {
            assert_eq!(strided, &regular, "{recipe}: not canonical");
            assert_eq!(canon(tree(strided)).as_ref(), Ok(layout), "{recipe}: not idempotent");
        }
        (None, Layout::Strided(_)) => panic!("{recipe}: not canonical"),
        (None, _) => {}
        (Some(regular), _) => assert!(lists(recipe), "{recipe}: {layout:?} is {regular:?}"),
    }

    let extent = recipe.footprint().extent();
    for count in [0, 1, 2, 3] {
        let repeated = layout.repeat(count, extent).unwrap();
        let offsets = case::offsets(recipe, count);
        assert_eq!(expand(&repeated), offsets, "{count} of {recipe}");
        if let Layout::Strided(_) = layout {
            let canonical = canonical(&offsets).map(Layout::Strided);
            assert_eq!(canonical.as_ref(), Some(&*repeated), "{count} of {recipe}");
        }
    }

    let step = if layout.size() <= prefixes { 1 } else { layout.size() / 7 };
    let mut bytes = 0;
    while bytes <= layout.size() + step {
        let prefix = layout.prefix(bytes);
        let wanted = usize::try_from(bytes.min(layout.size())).unwrap();
        assert_eq!(expand(&prefix), offsets[..wanted], "{recipe}: {bytes} bytes");
        if let Layout::Strided(strided) = layout {
            assert!(
                prefix.leaves().count() <= strided.dims.len() + 1,
                "{recipe}: {bytes} bytes in {prefix:?}"
            );
        }
        bytes += step;
    }
}

/// Somewhere in `recipe` blocks or parts are listed, so that unequal ones may be regular together by chance.
fn lists(recipe: &Recipe) -> bool {
    let listing = matches!(
        recipe,
        Recipe::Indexed(..) | Recipe::Hindexed(..) | Recipe::Struct { .. } | Recipe::Darray(..)
    );
    listing || recipe.children().iter().any(lists)
}

#[test]
fn recipes_survive_the_text() {
    for seed in 0..2000 {
        let recipe = random::recipe(&mut Rng::seeded(seed), 5, 300);
        assert_eq!(parse(&recipe.to_string()), recipe);
    }
}

#[test]
fn a_transposition_keeps_the_order_of_the_type_map() {
    // Columns of a 5 x 3 matrix of ints, one after the other.
    let columns = checked("named 4 vec 5 1 3 hvec 3 1 4");
    assert_eq!(columns, strided(0, 4, &[(3, 4, 20), (5, 12, 4)]));
    assert_eq!(checked("named 4 vec 5 1 3 resized 0 4 contig 3"), columns);
    // The same bytes row by row are one block.
    assert_eq!(checked("named 4 contig 3 contig 5"), strided(0, 60, &[]));
}

#[test]
fn faces_of_a_cube_one_cell_thick() {
    // A 6 x 5 x 4 array of doubles. In C order the last dimension is the fastest.
    assert_eq!(checked("named 8 sub C 3 6 5 4 1 5 4 2 0 0"), strided(2 * 160, 160, &[]));
    assert_eq!(checked("named 8 sub C 3 6 5 4 6 1 4 0 4 0"), strided(4 * 32, 32, &[(6, 160, 32)]));
    assert_eq!(checked("named 8 sub C 3 6 5 4 6 5 1 0 0 3"), strided(3 * 8, 8, &[(30, 32, 8)]));
    assert_eq!(
        checked("named 8 sub C 3 6 5 4 6 3 1 0 1 3"),
        strided(32 + 24, 8, &[(3, 32, 8), (6, 160, 24)])
    );
    // In Fortran order the first is.
    assert_eq!(checked("named 8 sub F 3 4 5 6 1 5 6 3 0 0"), strided(3 * 8, 8, &[(30, 32, 8)]));
    assert_eq!(checked("named 8 sub F 3 4 5 6 4 1 6 0 4 0"), strided(4 * 32, 32, &[(6, 160, 32)]));
    assert_eq!(checked("named 8 sub F 3 4 5 6 4 5 1 0 0 2"), strided(2 * 160, 160, &[]));
}

#[test]
fn one_layout_has_one_form() {
    let block = strided(0, 12, &[(4, 40, 12)]);
    for line in [
        "named 4 vec 4 3 10",
        "named 4 contig 3 hvec 4 1 40",
        "named 1 contig 12 resized 0 40 contig 4",
        "named 4 sub C 2 4 10 4 3 0 0",
        "named 4 sub F 2 10 4 3 4 0 0",
        "named 4 vec 1 3 77 dup resized 0 20 vec 2 1 2 hvec 2 1 80",
        "named 4 hvec 3 1 4 resized -8 40 dup contig 2 resized 0 80 contig 2",
        "named 2 vec 3 2 2 resized 0 10 contig 1 hvec 4 1 40",
        "named 4 sub C 1 10 3 0 contig 4",
        "named 4 sub C 3 9 4 10 1 4 3 0 0 0",
        "named 4 darray C 4 0 2 4 10 n b -1 3 1 4 sub C 1 1 1 0 hvec 1 1 9",
    ] {
        assert_eq!(checked(line), block, "{line}");
    }
}

#[test]
fn pairs_with_holes() {
    // MPI_SHORT_INT: two values of unequal length with a hole between.
    let blocks = table("pair 2 4 4 contig 3");
    assert_eq!((blocks.dims, blocks.table.len()), (vec![Dim { count: 3, stride: 8, packed: 6 }], 2));
    // MPI_2INT, and MPI_DOUBLE_INT whose padding is at its end.
    assert_eq!(checked("pair 4 4 4"), strided(0, 8, &[]));
    assert_eq!(checked("pair 8 8 4"), strided(0, 12, &[]));
    assert_eq!(checked("pair 8 8 4 contig 3"), strided(0, 12, &[(3, 16, 12)]));
    assert_eq!(checked("pair 4 8 4"), strided(0, 4, &[(2, 8, 4)]));
    assert_eq!(checked("pair 4 8 4 resized 0 16 contig 5"), strided(0, 4, &[(10, 8, 4)]));
}

#[test]
fn nests_of_five_dimensions() {
    let line = "named 4 hvec 2 1 8 hvec 3 1 32 hvec 2 1 128 hvec 4 1 512 hvec 3 1 4096";
    let dims = [(2, 8, 4), (3, 32, 8), (2, 128, 24), (4, 512, 48), (3, 4096, 192)];
    assert_eq!(checked(line), strided(0, 4, &dims));
    let line = "named 4 sub F 5 3 4 3 4 3 2 2 2 2 2 1 1 1 1 1";
    let offset = 4 * (1 + 3 + 12 + 36 + 144);
    assert_eq!(checked(line), strided(offset, 8, &[(2, 12, 8), (2, 48, 16), (2, 144, 32), (2, 576, 64)]));
}

#[test]
fn negative_extents_and_strides() {
    assert_eq!(checked("named 4 resized 0 -4 contig 3"), strided(0, 4, &[(3, -4, 4)]));
    assert_eq!(checked("named 4 vec 3 2 -2"), strided(0, 8, &[(3, -8, 8)]));
    assert_eq!(checked("named 8 resized -8 -16 hvec 2 3 -48"), strided(0, 8, &[(6, -16, 8)]));
    // Twice backwards is forwards.
    assert_eq!(checked("named 4 resized 0 -8 vec 3 1 -2"), strided(0, 4, &[(3, 16, 4)]));
}

#[test]
fn bytes_named_twice() {
    assert_eq!(checked("named 4 hvec 3 1 0"), strided(0, 4, &[(3, 0, 4)]));
    // Two blocks that touch, three times over, twice over.
    assert_eq!(checked("named 4 contig 2 hvec 3 2 0 hvec 2 1 0"), strided(0, 16, &[(6, 0, 16)]));
    assert_eq!(checked("named 4 hvec 3 1 2"), strided(0, 4, &[(3, 2, 4)]));
}

#[test]
fn types_without_bytes() {
    for line in [
        "named 4 contig 0",
        "named 4 vec 0 3 5",
        "named 4 vec 3 0 5 resized -4 40 contig 3",
        "irregular contig 0 dup",
        "named 8 darray C 4 3 1 6 b 2 4", // three processes have it all
        "named 8 darray C 4 1 2 7 1 c b 3 1 2 2", // ragged in one dimension, nothing in the other
    ] {
        assert_eq!(of(line), Ok(Layout::EMPTY), "{line}");
    }
}

#[test]
fn strides_beyond_32_bits() {
    let far = 1_i64 << 33;
    assert_eq!(checked(&format!("named 8 hvec 3 1 {far}")), strided(0, 8, &[(3, far, 8)]));
    let line = format!("named 8 sub C 3 {far} 3 2 2 2 1 5 1 1");
    assert_eq!(checked(&line), strided(8 * (5 * 6 + 3), 8, &[(2, 16, 8), (2, 48, 16)]));
    let line = format!("named 8 sub F 2 {far} 4 1 3 7 1");
    assert_eq!(checked(&line), strided(8 * (far + 7), 8, &[(3, 8 * far, 8)]));
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let big = 1_i64 << 62;
    let refused = |line: &str, reason| {
        let model = Model::default();
        let recipe = parse(line);
        // Without the size and the bounds, which the model could not compute either.
        let tree = tempi::ir::build(&model, &recipe);
        assert_eq!(model.open.get(), 0, "{line}");
        let result = tree.and_then(|tree| canon(tree).map_err(Failure::from));
        assert_eq!(result, Err(Failure::Unsupported(reason)), "{line}");
    };
    refused(&format!("named 8 contig {big}"), Unsupported::Overflow);
    refused(&format!("named 8 vec 2 1 {big}"), Unsupported::Overflow);
    refused(&format!("named 8 hvec 4 1 {big}"), Unsupported::Overflow);
    refused(&format!("named 8 sub C 3 {big} {big} 2 1 1 1 0 1 0"), Unsupported::Overflow);
    refused(&format!("named 8 sub C 2 {big} 2 2 2 {} 0", big - 2), Unsupported::Overflow);
    refused(&format!("named 8 darray C 1 0 2 {big} {big} b b -1 -1 1 1"), Unsupported::Overflow);
    refused("named 8 contig -1", Unsupported::Malformed);
    refused("named 8 sub C 1 5 3 3", Unsupported::Malformed);
    refused("named 8 sub C 1 5 3 -1", Unsupported::Malformed);
    refused("named 8 darray C 2 2 1 5 b -1 2", Unsupported::Malformed);
    refused("named 8 darray C 2 1 1 5 b 2 2", Unsupported::Malformed);
    refused("named 8 darray C 2 1 1 5 n -1 2", Unsupported::Malformed);
    refused("named 8 darray C 2 1 1 5 c 0 2", Unsupported::Malformed);
    refused("irregular contig 3", Unsupported::Irregular);
}

#[test]
fn nesting_has_a_limit() {
    let nest = |levels: usize| {
        let recipe = parse(&("named 4".to_owned() + &" dup".repeat(levels)));
        analyse(&recipe)
    };
    assert_eq!(nest(MAX_DEPTH), Ok(Layout::Strided(strided(0, 4, &[]))));
    assert_eq!(nest(MAX_DEPTH + 1), Err(Unsupported::TooDeep));
    let wide = "1 ".repeat(MAX_DEPTH + 1);
    let line = format!("named 4 sub C {} {wide}{wide}{}", MAX_DEPTH + 1, "0 ".repeat(MAX_DEPTH + 1));
    assert_eq!(of(&line), Err(Unsupported::TooDeep));
}

#[test]
fn distributed_arrays() {
    // Rank 1 of 2 in a 6 x 4 array of ints: rows 3 to 5, or columns 2 and 3.
    assert_eq!(checked("named 4 darray C 2 1 2 6 4 b n -1 -1 2 1"), strided(48, 48, &[]));
    assert_eq!(checked("named 4 darray C 2 1 2 6 4 n b -1 -1 1 2"), strided(8, 8, &[(6, 16, 8)]));
    assert_eq!(checked("named 4 darray F 2 1 2 4 6 b n -1 -1 2 1"), strided(8, 8, &[(6, 16, 8)]));
    // A short last block: 7 in blocks of 4.
    assert_eq!(checked("named 4 darray C 2 1 1 7 b -1 2"), strided(16, 12, &[]));
    // Every second element; blocks of 2, dealt out evenly; raggedly; all to one process.
    assert_eq!(checked("named 4 darray C 2 1 1 7 c -1 2"), strided(4, 4, &[(3, 8, 4)]));
    assert_eq!(checked("named 4 darray C 2 1 1 8 c 2 2"), strided(8, 8, &[(2, 16, 8)]));
    assert!(table("named 4 darray C 2 1 1 7 c 2 2").is_mixed());
    assert_eq!(checked("named 4 darray C 2 0 1 3 c 2 2"), strided(0, 8, &[]));
    assert_eq!(checked("named 4 darray C 1 0 1 7 c 2 1"), strided(0, 28, &[]));
    // The process grid is in row-major order in both orders: rank 1 of 2 x 3 is (0, 1).
    assert_eq!(checked("named 4 darray C 6 1 2 4 6 b b -1 -1 2 3"), strided(8, 8, &[(2, 24, 8)]));
    assert_eq!(checked("named 4 darray F 6 1 2 4 6 b b -1 -1 2 3"), strided(32, 8, &[(2, 16, 8)]));
}

#[test]
fn a_regular_list_is_a_vector() {
    let vector = checked("named 8 vec 6 2 5");
    for line in [
        "named 8 idxb 6 2 0 5 10 15 20 25",
        "named 8 idx 6 2 2 2 2 2 2 0 5 10 15 20 25",
        "named 8 hidxb 6 2 0 40 80 120 160 200",
        "named 8 contig 2 hidxb 6 1 0 40 80 120 160 200",
        // Blocks that are split, empty ones, and parts of a structure.
        "named 8 idx 9 1 1 2 0 2 1 1 2 2 0 1 5 77 10 15 16 20 25",
        "named 4 contig 0 named 8 vec 3 2 5 named 8 vec 3 2 5 struct 3 1 1 1 9 0 120",
        "named 8 vec 4 2 5 named 4 contig 4 named 8 contig 2 struct 3 1 1 1 0 160 200",
    ] {
        assert_eq!(checked(line), vector, "{line}");
    }
    // Rows of a matrix, listed element by element.
    assert_eq!(checked("named 4 idxb 6 1 0 2 4 100 102 104"), strided(0, 4, &[(3, 8, 4), (2, 400, 12)]));
    // Every other row starts where the one before ends.
    assert_eq!(checked("named 4 idx 3 1 2 1 0 2 5"), strided(0, 4, &[(2, 8, 4), (2, 12, 8)]));
}

#[test]
fn tables_are_as_small_as_they_can_be() {
    // Doubles anywhere: offsets from the first, in doubles.
    let blocks = table("named 8 idxb 4 1 1 7 3 5");
    assert_eq!((blocks.offset, blocks.block, blocks.packed, blocks.dims.len()), (8, 8, 8, 0));
    assert_eq!(blocks.table.runs(), &Runs::Narrow { shift: 4, offsets: [0, 3, 1, 2].into() });
    // Runs that touch are one, and then they are not all equal.
    assert!(table("named 8 idxb 4 1 1 7 3 4").is_mixed());
    // Repetition stays repetition.
    let blocks = table("named 8 idxb 4 1 1 7 3 5 resized 0 64 contig 1000");
    assert_eq!(
        (blocks.table.len(), blocks.dims.as_slice()),
        (4, &[Dim { count: 1000, stride: 64, packed: 32 }][..])
    );
    // Faces at listed places: one table of faces, not of rows.
    let blocks = table("named 8 sub C 3 4 4 4 4 1 4 0 0 0 hidxb 4 1 0 4096 512 8192");
    assert_eq!((blocks.table.len(), blocks.block, blocks.packed), (4, 32, 128));
    // Pairs of runs at one distance: half the table.
    assert_eq!(table("named 4 hidxb 6 1 0 12 100 112 48 60").table.len(), 3);
    // Absolute addresses are as narrow as others.
    let far = 0x7f00_1234_0000_i64;
    let line = format!("named 4 hidxb 3 1 {} {} {}", far, far + 64, far - 4096);
    let blocks = table(&line);
    assert_eq!((blocks.offset, blocks.table.reach()), (far, (-4096, 64)));
    assert!(matches!(blocks.table.runs(), Runs::Narrow { .. }));
}

#[test]
fn large_parts_stay_apart() {
    // A structure of two arrays in steps: two strided parts; three times, each with one more dimension.
    let line = "named 8 vec 1000 1 2 named 4 vec 1000 1 3 struct 2 1 1 0 100000 resized 0 200000 contig 3";
    let Layout::Parts(parts) = of(line).unwrap() else { panic!("{line}") };
    assert_eq!(expand(&Layout::Parts(parts.clone())), case::offsets(&parse(line), 1));
    let size = 12_000;
    let first = strided(0, 8, &[(1000, 16, 8), (3, 200_000, size)]);
    let second = strided(100_000, 4, &[(1000, 12, 4), (3, 200_000, size)]);
    let found: Vec<_> = parts.parts.iter().map(|part| (part.packed, part.layout.clone())).collect();
    assert_eq!(found, [(0, Leaf::Strided(first)), (8000, Leaf::Strided(second))]);
    let layout = Layout::Parts(parts);
    for bytes in [0, 1, 7_999, 8_000, 8_001, 12_000, 12_003, 21_000, 35_999, 36_000] {
        let expected = &case::offsets(&parse(line), 1)[..usize::try_from(bytes).unwrap()];
        assert_eq!(expand(&layout.prefix(bytes)), expected, "{bytes}");
    }
    // More parts than launches are good for: one table.
    let many = "named 8 vec 100 1 2 ".repeat(MAX_PARTS) + "named 4 vec 100 1 3 ";
    let n = MAX_PARTS + 1;
    let places: Vec<_> = (0..n).map(|i| (i * 4000 + i % 3 * 8).to_string()).collect();
    let line = format!("{many}struct {n}{} {}", " 1".repeat(n), places.join(" "));
    assert!(table(&line).is_mixed());
}

#[test]
fn a_table_has_a_limit() {
    // Nothing is repeated in memory to find that out: a block of more elements than runs may be, each of them a run.
    let list = format!("named 4 resized 0 8 vec 2 1 3 idx 2 {MAX_RUNS} 1 0 7");
    let model = Model::default();
    let recipe = parse(&list);
    let tree = tempi::ir::build(&model, &recipe).unwrap();
    assert_eq!(canon(tree), Err(Unsupported::TooManyBlocks));
}

#[test]
fn what_the_mpi_contradicts_is_refused() {
    /// A description with one fault: a size, or true bounds, of another type.
    struct Faulty<'a>(Model<'a>, i64, i64);

    impl<'a> Describe for Faulty<'a> {
        type Type = &'a Recipe;
        type Error = Infallible;

        fn node(&self, recipe: &'a Recipe) -> Result<Node<&'a Recipe>, Infallible> {
            self.0.node(recipe)
        }
        fn bounds(&self, recipe: &'a Recipe) -> Result<Bounds, Infallible> {
            self.0.bounds(recipe)
        }
        fn true_bounds(&self, recipe: &'a Recipe) -> Result<Option<Bounds>, Infallible> {
            let bounds = self.0.true_bounds(recipe)?;
            Ok(bounds.map(|bounds| Bounds { lb: bounds.lb + self.1, ..bounds }))
        }
        fn size(&self, recipe: &'a Recipe) -> Result<i64, Infallible> {
            let derived = i64::from(recipe.child().is_some());
            self.0.size(recipe).map(|size| size + derived * self.2)
        }
        fn release(&self, recipe: &'a Recipe) {
            self.0.release(recipe);
        }
    }

    let recipe = parse("named 1 vec 5 1 -1");
    let layout = |lb, size| layout(&Faulty(Model::default(), lb, size), &recipe);
    assert_eq!(layout(0, 0), Ok(Layout::Strided(strided(0, 1, &[(5, -1, 1)]))));
    assert_eq!(layout(4, 0), Err(Failure::Unsupported(Unsupported::Contradiction)));
    assert_eq!(layout(-1, 0), Err(Failure::Unsupported(Unsupported::Contradiction)));
    assert_eq!(layout(0, 1), Err(Failure::Unsupported(Unsupported::Contradiction)));
}

#[test]
fn a_predefined_type_with_padding_is_refused() {
    /// One predefined type: its size, lower bound and extent.
    struct Named(i64, Bounds);

    impl Describe for Named {
        type Type = ();
        type Error = Infallible;

        fn node(&self, (): ()) -> Result<Node<()>, Infallible> {
            Ok(Node::Named)
        }
        fn bounds(&self, (): ()) -> Result<Bounds, Infallible> {
            Ok(self.1)
        }
        fn size(&self, (): ()) -> Result<i64, Infallible> {
            Ok(self.0)
        }
        fn release(&self, (): ()) {}
    }

    let holes = Err(Failure::Unsupported(Unsupported::Holes));
    assert_eq!(layout(&Named(6, Bounds { lb: 0, extent: 8 }), ()), holes);
    assert_eq!(layout(&Named(8, Bounds { lb: 4, extent: 8 }), ()), holes);
    assert_eq!(layout(&Named(8, Bounds { lb: 0, extent: 8 }), ()), Ok(Layout::Strided(strided(0, 8, &[]))));
    assert_eq!(layout(&Named(0, Bounds { lb: 3, extent: 5 }), ()), Ok(Layout::EMPTY));
}

/// Analyses the random types of `seeds` and compares them with the oracle.
fn random_types(seeds: Range<u64>) {
    let types = seeds.end - seeds.start;
    let (mut regular, mut equal, mut mixed, mut empty, mut deep, mut transposed) = (0, 0, 0, 0, 0, 0);
    let (mut parts, mut missed) = (0, 0);
    for seed in seeds {
        let limit = if seed % 20 == 0 { 2500 } else { 300 };
        let recipe = random::recipe(&mut Rng::seeded(seed), 7, limit);
        let layout = analyse(&recipe).unwrap_or_else(|reason| panic!("{recipe}: {reason}"));
        check(&recipe, &layout, 24);
        match layout {
            Layout::Strided(strided) => {
                regular += 1;
                empty += u64::from(strided.is_empty());
                deep += u64::from(strided.dims.len() > 3);
                transposed += u64::from(!strided.dims.is_sorted_by_key(|dim| dim.packed));
                continue;
            }
            Layout::Blocks(blocks) if blocks.is_mixed() => mixed += 1,
            Layout::Blocks(_) => equal += 1,
            Layout::Parts(_) => parts += 1,
        }
        missed += u64::from(canonical(&case::offsets(&recipe, 1)).is_some());
    }
    println!("{regular} strided: {empty} empty, {deep} of 4 dimensions or more, {transposed} transposed");
    println!(
        "{equal} tables of equal runs, {mixed} of different ones, {parts} in parts; {missed} of them regular by chance"
    );
    // The generator reaches what it should.
    assert!([equal, mixed].iter().all(|some| *some > types / 20));
    assert!([empty, deep, transposed].iter().all(|some| *some > types / 120));
    // Blocks that touch in such a way that regular ones are seen as unequal first.
    assert!(missed < types / 1000, "{missed}");
}

#[test]
fn random_types_agree_with_the_oracle() {
    random_types(0..60_000 * soak());
}

#[test]
fn more_random_types_agree_with_the_oracle() {
    random_types(60_000 * soak()..120_000 * soak());
}

/// Every MPI compiler wrapper that is installed, by the name it was packaged under.
fn wrappers() -> Vec<&'static str> {
    let runs =
        |name: &&str| Command::new(name).arg("-show").output().is_ok_and(|output| output.status.success());
    let named: Vec<_> = ["mpicc.openmpi", "mpicc.mpich"].into_iter().filter(runs).collect();
    if named.is_empty() { ["mpicc"].into_iter().filter(runs).collect() } else { named }
}

#[test]
fn the_mpi_agrees_with_the_oracle() {
    let cases: Vec<Case> = (0..4000 * soak())
        .map(|seed| {
            Case::new(random::recipe(&mut Rng::seeded(seed), 5, 2000), i64::try_from(seed % 4).unwrap())
        })
        .filter(|case| case.span.1 - case.span.0 < 1 << 16 && case.is_trusted())
        .collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let input = folder.join("recipes");
    let lines: Vec<String> = cases.iter().map(Case::line).collect();
    fs::write(&input, lines.join("\n") + "\n").unwrap();
    let wrappers = wrappers();
    if wrappers.is_empty() {
        println!("skipped: no mpicc");
    }
    for wrapper in wrappers {
        let program = folder.join(format!("pack_random.{wrapper}"));
        let compiled = Command::new(wrapper)
            .args(["-O1", "-Wall", "-Wextra", "-Itests/cases", "tests/apps/pack_random.c", "-ldl", "-o"])
            .arg(&program)
            .status();
        assert!(compiled.unwrap().success(), "{wrapper}");
        let output = Command::new(&program).arg(&input).output().unwrap();
        let answers = String::from_utf8(output.stdout).unwrap();
        for (case, answer) in cases.iter().zip(answers.lines()) {
            assert_eq!(answer, case.answer(), "{wrapper}: {}", case.line());
        }
        assert_eq!(
            answers.lines().count(),
            cases.len(),
            "{wrapper}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{wrapper}");
    }
}
