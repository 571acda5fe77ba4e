//! The datatype engine against its oracle: named layouts, and a hundred thousand random ones.

mod recipe;

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use recipe::case::{self, Case};
use recipe::random::{self, Rng};
use recipe::{Model, Recipe};
use tempi::ir::{Dim, Failure, Strided, Type, Unsupported, canon, layout};

fn parse(line: &str) -> Recipe {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn analyse(recipe: &Recipe) -> Result<Strided, Unsupported> {
    let model = Model::default();
    let result = layout(&model, recipe).map_err(|failure| match failure {
        Failure::Unsupported(reason) => reason,
        Failure::Describe(never) => match never {},
    });
    assert_eq!(model.open.get(), 0, "child handles left open by {recipe}");
    result
}

fn of(line: &str) -> Result<Strided, Unsupported> {
    analyse(&parse(line))
}

/// The layout of a line that the oracle agrees with, in all that can be asked of it.
fn checked(line: &str) -> Strided {
    let strided = of(line).unwrap_or_else(|reason| panic!("{line}: {reason}"));
    check(&parse(line), &strided, i64::MAX);
    strided
}

fn strided(offset: i64, block: i64, dims: &[(i64, i64, i64)]) -> Strided {
    let dims: Vec<Dim> = dims.iter().map(|&(count, stride, packed)| Dim { count, stride, packed }).collect();
    let size = dims.iter().fold(block, |size, dim| size * dim.count);
    Strided { offset, block, dims, size }
}

/// The memory offset of every packed byte, by the definition of [`Strided`].
fn expand(strided: &Strided) -> Vec<i64> {
    let mut offsets = vec![None; usize::try_from(strided.size).unwrap()];
    let mut places = vec![(0, strided.offset)];
    for dim in &strided.dims {
        let repeat = |(packed, offset)| {
            (0..dim.count).map(move |i| (packed + i * dim.packed, offset + i * dim.stride))
        };
        places = places.into_iter().flat_map(repeat).collect();
    }
    for (packed, offset) in places {
        for byte in 0..strided.block {
            let old = offsets[usize::try_from(packed + byte).unwrap()].replace(offset + byte);
            assert_eq!(old, None, "packed byte {} twice in {strided:?}", packed + byte);
        }
    }
    offsets.into_iter().map(|offset| offset.expect("every packed byte")).collect()
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
        if size % unit != 0 {
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
    (int(size) == strided.size && expand(&strided) == offsets).then_some(strided)
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

/// Compares `strided`, its repetitions and its prefixes with the oracle. Every prefix is tried where the type has at
/// most `prefixes` bytes, some of them otherwise.
fn check(recipe: &Recipe, strided: &Strided, prefixes: i64) {
    let offsets = case::offsets(recipe, 1);
    assert_eq!(expand(strided), offsets, "{recipe}");
    assert_eq!(Some(strided), canonical(&offsets).as_ref(), "{recipe}: not canonical");
    assert_eq!(canon(&tree(strided)).as_ref(), Ok(strided), "{recipe}: not idempotent");
    let span = offsets.iter().min().map_or((0, 0), |lo| (*lo, offsets.iter().max().unwrap() + 1));
    assert_eq!(strided.span(), Some(span), "{recipe}");

    let extent = recipe.footprint().extent();
    for count in [0, 1, 2, 3] {
        let repeated = strided.repeat(count, extent).unwrap();
        let offsets = case::offsets(recipe, count);
        assert_eq!(canonical(&offsets).as_ref(), Some(&*repeated), "{count} of {recipe}");
    }

    let step = if strided.size <= prefixes { 1 } else { strided.size / 7 };
    let mut bytes = 0;
    while bytes <= strided.size + step {
        let mut prefix = Vec::new();
        let pieces = strided.pieces(bytes);
        assert!(pieces.len() <= strided.dims.len() + 1, "{recipe}: {bytes} bytes in {pieces:?}");
        for piece in &pieces {
            assert_eq!(
                usize::try_from(piece.packed),
                Ok(prefix.len()),
                "{recipe}: {bytes} bytes in {pieces:?}"
            );
            let part = expand(&piece.layout);
            assert_eq!(canonical(&part).as_ref(), Some(&piece.layout), "{recipe}: piece");
            prefix.extend(part);
        }
        let wanted = usize::try_from(bytes.min(strided.size)).unwrap();
        assert_eq!(prefix, offsets[..wanted], "{recipe}: {bytes} bytes");
        bytes += step;
    }
}

/// Analyses the random types of `seeds` and compares all that is strided with the oracle.
fn random_types(seeds: Range<u64>) {
    let types = seeds.end - seeds.start;
    let (mut regular, mut irregular, mut empty, mut deep, mut transposed) = (0, 0, 0, 0, 0);
    for seed in seeds {
        let limit = if seed % 20 == 0 { 2500 } else { 300 };
        let recipe = random::recipe(&mut Rng(seed), 5, limit);
        match analyse(&recipe) {
            Ok(strided) => {
                check(&recipe, &strided, 24);
                regular += 1;
                empty += u64::from(strided.is_empty());
                deep += u64::from(strided.dims.len() > 3);
                transposed += u64::from(!strided.dims.is_sorted_by_key(|dim| dim.packed));
            }
            Err(Unsupported::Irregular) => {
                assert_eq!(canonical(&case::offsets(&recipe, 1)), None, "{recipe} is strided");
                irregular += 1;
            }
            Err(reason) => panic!("{recipe}: {reason}"),
        }
    }
    println!("{regular} strided: {empty} empty, {deep} of 4 dimensions or more, {transposed} transposed");
    println!("{irregular} irregular");
    // The generator reaches what it should.
    assert!(regular > types * 9 / 10);
    assert!([empty, deep, transposed, irregular].iter().all(|some| *some > types / 120));
}

#[test]
fn random_types_agree_with_the_oracle() {
    random_types(0..60_000);
}

#[test]
fn more_random_types_agree_with_the_oracle() {
    random_types(60_000..120_000);
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
    let cases: Vec<Case> = (0..3000)
        .map(|seed| Case::new(random::recipe(&mut Rng(seed), 5, 2000), i64::try_from(seed % 4).unwrap()))
        .filter(|case| case.span.1 - case.span.0 < 1 << 26)
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
            if case.answer() != answer {
                println!("{wrapper}: {}\n   {answer}\n   {}", case.line(), case.answer());
            }
        }
        assert_eq!(answers.lines().count(), cases.len(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{wrapper}");
    }
}
