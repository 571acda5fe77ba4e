//! The constants of each ABI against the headers at hand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::needless_pass_by_value, reason = "tests")]

mod ranks;

use std::collections::BTreeMap;

use ranks::{Mpi, mpis};
use tempi::mpi::status::Spare;
use tempi::mpi::{Family, MPI_Aint, MPI_Count};

/// What the header says, without the ones that were compared.
struct Header(BTreeMap<String, String>);

impl Header {
    fn of(mpi: &Mpi) -> Self {
        let program = mpi.compile("constants", false);
        let text = mpi.run(1, &program).succeed();
        let pair = |line: &str| line.split_once(' ').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self(text.lines().filter_map(pair).collect())
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers")]
    fn says(&mut self, name: &str, ours: impl ToString) {
        assert_eq!(self.0.remove(name), Some(ours.to_string()), "{name}");
    }
}

fn compare(mpi: &Mpi, family: Family) {
    let mut header = Header::of(mpi);
    let c = family.constants();
    let named = [
        ("MPI_COMBINER_NAMED", c.combiner_named),
        ("MPI_COMBINER_DUP", c.combiner_dup),
        ("MPI_COMBINER_CONTIGUOUS", c.combiner_contiguous),
        ("MPI_COMBINER_VECTOR", c.combiner_vector),
        ("MPI_COMBINER_HVECTOR", c.combiner_hvector),
        ("MPI_COMBINER_INDEXED", c.combiner_indexed),
        ("MPI_COMBINER_HINDEXED", c.combiner_hindexed),
        ("MPI_COMBINER_INDEXED_BLOCK", c.combiner_indexed_block),
        ("MPI_COMBINER_HINDEXED_BLOCK", c.combiner_hindexed_block),
        ("MPI_COMBINER_STRUCT", c.combiner_struct),
        ("MPI_COMBINER_SUBARRAY", c.combiner_subarray),
        ("MPI_COMBINER_DARRAY", c.combiner_darray),
        ("MPI_COMBINER_F90_REAL", c.combiner_f90_real),
        ("MPI_COMBINER_F90_COMPLEX", c.combiner_f90_complex),
        ("MPI_COMBINER_F90_INTEGER", c.combiner_f90_integer),
        ("MPI_COMBINER_RESIZED", c.combiner_resized),
        ("MPI_ORDER_C", c.order_c),
        ("MPI_ORDER_FORTRAN", c.order_fortran),
        ("MPI_DISTRIBUTE_BLOCK", c.distribute_block),
        ("MPI_DISTRIBUTE_CYCLIC", c.distribute_cyclic),
        ("MPI_DISTRIBUTE_NONE", c.distribute_none),
        ("MPI_DISTRIBUTE_DFLT_DARG", c.distribute_dflt_darg),
        ("MPI_PROC_NULL", c.proc_null),
        ("MPI_UNDEFINED", c.undefined),
        ("MPI_ERR_TRUNCATE", c.err_truncate),
        ("MPI_ERR_OTHER", c.err_other),
        ("MPI_ERR_NO_MEM", c.err_no_mem),
        ("MPI_ERR_INTERN", c.err_intern),
        ("MPI_ERR_PENDING", c.err_pending),
        ("MPI_SUCCESS", 0),
    ];
    for (name, ours) in named {
        header.says(name, ours);
    }
    // The standard ABI has dropped them, and so may a header of MPI-5 that keeps the old numbers.
    for (name, ours) in [
        ("MPI_COMBINER_HVECTOR_INTEGER", c.combiner_hvector_integer),
        ("MPI_COMBINER_HINDEXED_INTEGER", c.combiner_hindexed_integer),
        ("MPI_COMBINER_STRUCT_INTEGER", c.combiner_struct_integer),
    ] {
        if header.0.contains_key(name) {
            header.says(name, ours);
        }
    }
    header.says("MPI_STATUS_IGNORE", c.status_ignore);
    header.says("MPI_STATUSES_IGNORE", c.status_ignore);
    header.says("sizeof(MPI_Status)", c.status_bytes);
    header.says("MPI_Status.MPI_ERROR", c.status_error_at);
    assert!(c.status_bytes <= size_of::<Spare>());
    header.says("sizeof(MPI_Aint)", size_of::<MPI_Aint>());
    header.says("sizeof(MPI_Count)", size_of::<MPI_Count>());
    let handle = if family == Family::Mpich { 4 } else { 8 };
    for name in ["sizeof(MPI_Datatype)", "sizeof(MPI_Comm)", "sizeof(MPI_Message)", "sizeof(MPI_Request)"] {
        header.says(name, handle);
    }

    // Open MPI's handles are addresses of objects: the program tells whether each is the symbol's that we look up.
    let value = |ours: fn(Family) -> usize| if family == Family::OpenMpi { 1 } else { ours(family) };
    header.says("MPI_PACKED", value(|f| f.packed().0));
    header.says("MPI_REQUEST_NULL", value(|f| f.request_null().0));
    header.says("MPI_MESSAGE_NO_PROC", value(|f| f.message_no_proc().0));
    header.says("MPI_COMM_WORLD", value(|f| f.comm_world().0));
    header.says("MPI_COMM_SELF", value(|f| f.comm_self().0));
    header.says("MPI_DATATYPE_NULL", value(|f| f.datatype_null().0));
    header.says("MPI_DOUBLE_INT", value(|f| f.pairs()[0].0.0));
    header.says("MPI_LONG_INT", value(|f| f.pairs()[1].0.0));
    header.says("MPI_SHORT_INT", value(|f| f.pairs()[2].0.0));
    header.says("MPI_LONG_DOUBLE_INT", value(|f| f.pairs()[3].0.0));
    let names = ["double_int", "long_int", "short_int", "long_double_int"];
    for (name, (_, (first, second_at, second))) in names.into_iter().zip(Family::Standard.pairs()) {
        header.says(name, format!("{first} {second_at} {second}"));
    }
    assert_eq!(header.0, BTreeMap::new(), "not compared");
}

#[test]
fn the_constants_are_the_headers() {
    for mpi in mpis() {
        println!("{}", mpi.name);
        let family = match mpi.family.as_str() {
            "openmpi" => Family::OpenMpi,
            "mpich" => Family::Mpich,
            "abi" => Family::Standard,
            other => panic!("{other}: no family"),
        };
        compare(mpi, family);
    }
}
