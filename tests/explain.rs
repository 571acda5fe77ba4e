//! What `TEMPI_EXPLAIN` says of datatypes: to the letter for recipes, and once for each type of a program.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod ranks;
mod recipe;

use std::fs;

use ranks::{folder, two_mpis};
use recipe::{Model, Recipe};
use tempi::explain::{Setting, text};
use tempi::ir::layout;
use tempi::pack::host::System;

const SETTING: Setting = Setting { multiprocessors: Some(132), system: System::OpenMpi4 };

fn explained(line: &str, setting: Setting) -> String {
    let (model, recipe): (_, Recipe) = (Model::default(), line.parse().unwrap());
    let found = layout(&model, &recipe);
    let text =
        text(&model, &recipe, found.as_ref().map_err(|failure| format!("a reason: {failure}")), setting);
    assert_eq!(model.open.get(), 0, "child handles left open");
    text
}

fn says(line: &str, expected: &str) {
    let text = explained(line, SETTING);
    assert_eq!(text, expected.trim_start_matches('\n'), "{line} is explained as\n{text}");
}

#[test]
fn a_vector() {
    says(
        "named 8 vec 1024 1 2",
        r"
  constructed  vector count 1024 blocklength 1 stride 2
                 predefined, 8 bytes
  extent       16376 bytes from 0
  canonical    strided, 8192 bytes in blocks of 8 from 0
               1024 times, memory stride 16, packed stride 8
  kernel       tempi_pack_w8_o32, words of 8 bytes
               grid 1, block 256, on 132 multiprocessors
  table        none
  host loop    moves of 8 bytes in 1 loop
               MPI_Pack and MPI_Unpack use it
  plan         88 bytes on the host
",
    );
}

#[test]
fn a_subarray() {
    says(
        "named 8 sub C 3 64 64 64 64 32 2 0 16 60",
        r"
  constructed  subarray sizes 64 64 64 subsizes 64 32 2 starts 0 16 60 order C
                 predefined, 8 bytes
  extent       2097152 bytes from 0
  canonical    strided, 32768 bytes in blocks of 16 from 8672
               32 times, memory stride 512, packed stride 16
               64 times, memory stride 32768, packed stride 512
  kernel       tempi_pack_w16_o32, words of 16 bytes
               grid 4, block 256, on 132 multiprocessors
  table        none
  host loop    moves of 16 bytes in 2 loops
               MPI_Pack and MPI_Unpack use it
  plan         112 bytes on the host
",
    );
}

#[test]
fn a_transposition() {
    says(
        "named 8 vec 32 1 32 resized 0 8 contig 32",
        r"
  constructed  contiguous count 32
                 resized lb 0 extent 8
                   vector count 32 blocklength 1 stride 32
                     predefined, 8 bytes
  extent       256 bytes from 0
  canonical    strided, 8192 bytes in blocks of 8 from 0
               32 times, memory stride 8, packed stride 256
               32 times, memory stride 256, packed stride 8
  kernel       tempi_pack_w8_o32, words of 8 bytes
               grid 1, block 256, on 132 multiprocessors
  table        none
  host loop    moves of 8 bytes in 2 loops, by strips
               MPI_Pack and MPI_Unpack use it
  plan         112 bytes on the host
",
    );
}

#[test]
fn indexed_types() {
    says(
        "named 8 idxb 4 1 1 7 3 5 resized 0 64 contig 1000",
        r"
  constructed  contiguous count 1000
                 resized lb 0 extent 64
                   indexed_block count 4 blocklength 1 displacements 1 7 3 5
                     predefined, 8 bytes
  extent       64000 bytes from 0
  canonical    table, 32000 bytes in runs of 8 from 8
               4 runs, entries of 4 bytes in units of 16
               1000 times, memory stride 64, packed stride 32
  kernel       tempi_pack_equal_w8, words of 8 bytes
               grid 4, block 256, on 132 multiprocessors
  table        16 bytes on the device
  host loop    moves of 8 bytes, at each entry of the table
               MPI_Pack and MPI_Unpack use it
  plan         184 bytes on the host
",
    );
    says(
        "named 8 idx 3 1 2 1 0 4 11",
        r"
  constructed  indexed count 3 blocklengths 1 2 1 displacements 0 4 11
                 predefined, 8 bytes
  extent       96 bytes from 0
  canonical    table, 32 bytes in runs of different length from 0
               3 runs, entries of 16 bytes in units of 1
  kernel       tempi_pack_equal_w8, words of 8 bytes
               grid 1, block 256, on 132 multiprocessors
  table        16 bytes on the device
  host loop    copies of each run's length, at each entry of the table
               MPI_Pack and MPI_Unpack use it
  plan         192 bytes on the host
",
    );
}

#[test]
fn a_structure_of_arrays() {
    says(
        "named 8 vec 1000 1 2 named 4 vec 1000 1 3 struct 2 1 1 0 100000",
        r"
  constructed  struct count 2 blocklengths 1 1 displacements 0 100000 bytes
                 vector count 1000 blocklength 1 stride 2
                   predefined, 8 bytes
                 vector count 1000 blocklength 1 stride 3
                   predefined, 4 bytes
  extent       111992 bytes from 0
  canonical    12000 bytes in 2 parts
  part 1       packed from 0
               strided, 8000 bytes in blocks of 8 from 0
               1000 times, memory stride 16, packed stride 8
  item         as for tempi_pack_w8_o32, words of 8 bytes
  table        none
  host loop    moves of 8 bytes in 1 loop
  part 2       packed from 8000
               strided, 4000 bytes in blocks of 4 from 100000
               1000 times, memory stride 12, packed stride 4
  item         as for tempi_pack_w4_o32, words of 4 bytes
  table        none
  host loop    moves of 4 bytes in 1 loop
  kernel       tempi_move, for 2 items
               grid 2, block 256, on 132 multiprocessors
               MPI_Pack and MPI_Unpack use it
  plan         256 bytes on the host
",
    );
}

#[test]
fn what_is_forwarded() {
    says(
        "irregular contig 3",
        r"
  constructed  contiguous count 3
                 a constructor that is not known
  extent       24 bytes from 0
  forwarded    a reason: constructor without a form of ours
",
    );
    says(
        "named 8 contig 3",
        r"
  constructed  contiguous count 3
                 predefined, 8 bytes
  extent       24 bytes from 0
  canonical    contiguous, 24 bytes from 0
  forwarded    contiguous, the MPI takes it as it is
  plan         64 bytes on the host
",
    );
    says(
        "named 8 contig 3 resized 0 40",
        r"
  constructed  resized lb 0 extent 40
                 contiguous count 3
                   predefined, 8 bytes
  extent       40 bytes from 0
  canonical    contiguous, 24 bytes from 0
  forwarded    contiguous, the MPI takes it as it is; several elements are a vector
  plan         64 bytes on the host
",
    );
    says(
        "named 8 contig 0",
        r"
  constructed  contiguous count 0
                 predefined, 8 bytes
  extent       0 bytes from 0
  forwarded    no bytes
",
    );
}

#[test]
fn each_type_of_a_program_is_explained_once() {
    for mpi in two_mpis() {
        let program = mpi.compile("explain", false);
        let run = || mpi.run(1, &program).preloaded();
        let file = folder().join(&mpi.name).join("explained-0");
        let pattern = folder().join(&mpi.name).join("explained-%r");
        fs::write(&file, "of the last run\n").unwrap();
        run().with("TEMPI_EXPLAIN", pattern.to_str().unwrap()).succeed();
        let said = fs::read_to_string(&file).unwrap();
        assert_eq!(said, EXPLAINED.trim_start_matches('\n'), "{}", mpi.name);

        let stderr = |run: ranks::Run<'_>| String::from_utf8(run.output().stderr).unwrap();
        let said = stderr(run().with("TEMPI_EXPLAIN", "1"));
        assert!(said.contains(EXPLAINED.trim_start_matches('\n')), "{}: {said}", mpi.name);
        let off = stderr(run().with("TEMPI_EXPLAIN", "off"));
        assert!(!off.contains("tempi explain"), "{}: {off}", mpi.name);
    }
}

const EXPLAINED: &str = r"
tempi explain, rank 0, type 1
  constructed  vector count 64 blocklength 1 stride 4, named column
                 MPI_DOUBLE, 8 bytes
  extent       2024 bytes from 0
  canonical    strided, 512 bytes in blocks of 8 from 0
               64 times, memory stride 32, packed stride 8
  kernel       tempi_pack_w8_o32, words of 8 bytes
               grid 1, block 256, on 132 multiprocessors, assumed
  table        none
  host loop    moves of 8 bytes in 1 loop
               MPI_Pack and MPI_Unpack use it
  plan         88 bytes on the host
tempi explain, rank 0, type 2
  constructed  indexed count 3 blocklengths 1 2 1 displacements 0 4 11
                 MPI_DOUBLE, 8 bytes
  extent       96 bytes from 0
  canonical    table, 32 bytes in runs of different length from 0
               3 runs, entries of 16 bytes in units of 1
  kernel       tempi_pack_equal_w8, words of 8 bytes
               grid 1, block 256, on 132 multiprocessors, assumed
  table        16 bytes on the device
  host loop    copies of each run's length, at each entry of the table
               MPI_Pack and MPI_Unpack use it
  plan         192 bytes on the host
tempi explain, rank 0, type 3
  constructed  dup
                 indexed count 3 blocklengths 1 2 1 displacements 0 4 11
                   MPI_DOUBLE, 8 bytes
  extent       96 bytes from 0
  canonical    table, 32 bytes in runs of different length from 0
               3 runs, entries of 16 bytes in units of 1
  kernel       tempi_pack_equal_w8, words of 8 bytes
               grid 1, block 256, on 132 multiprocessors, assumed
  table        16 bytes on the device
  host loop    copies of each run's length, at each entry of the table
               MPI_Pack and MPI_Unpack use it
  plan         192 bytes on the host
tempi explain, rank 0, type 4
  constructed  indexed count 2 blocklengths 67108864 1 displacements 0 7
                 vector count 2 blocklength 1 stride 3
                   resized lb 0 extent 8
                     MPI_INT, 4 bytes
  extent       2147483648 bytes from 0
  forwarded    type has too many blocks: more blocks than a table may hold
";
