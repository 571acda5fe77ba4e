//! The one list of MPI functions.
//!
//! Everything is derived from it: our exports (`api`), the lazily bound calls to the system MPI (`next`), and the check
//! against a real `mpi.h` (`api::check`). Kinds of row:
//!
//! * `hook`: exported under its `MPI_` and `PMPI_` name; the body follows `=>`.
//! * `call`: only called.
//! * `maybe`: only called, and only where `next::available` says that this MPI has it.

/// Expand `$m!` over the table.
macro_rules! mpi_table {
    ($m:ident) => {
        $m! {
            hook fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int => setup::init;
            hook fn MPI_Init_thread(argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int) -> c_int => setup::init_thread;
            hook fn MPI_Finalize() -> c_int => setup::finalize;

            hook fn MPI_Type_commit(datatype: *mut MPI_Datatype) -> c_int => types::commit;

            hook fn MPI_Pack(inbuf: *const c_void, incount: c_int, datatype: MPI_Datatype, outbuf: *mut c_void, outsize: c_int, position: *mut c_int, comm: MPI_Comm) -> c_int => pack::pack;
            hook fn MPI_Unpack(inbuf: *const c_void, insize: c_int, position: *mut c_int, outbuf: *mut c_void, outcount: c_int, datatype: MPI_Datatype, comm: MPI_Comm) -> c_int => pack::unpack;

            hook fn MPI_Send(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int => p2p::send;
            hook fn MPI_Ssend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int => p2p::ssend;
            hook fn MPI_Rsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int => p2p::rsend;
            hook fn MPI_Bsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int => p2p::bsend;
            hook fn MPI_Recv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int => p2p::recv;
            hook fn MPI_Mrecv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, message: *mut MPI_Message, status: *mut MPI_Status) -> c_int => p2p::mrecv;
            hook fn MPI_Sendrecv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int => p2p::sendrecv;
            hook fn MPI_Sendrecv_replace(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int => p2p::sendrecv_replace;

            hook fn MPI_Isend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::isend;
            hook fn MPI_Issend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::issend;
            hook fn MPI_Irsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::irsend;
            hook fn MPI_Ibsend(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::ibsend;
            hook fn MPI_Irecv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::irecv;
            hook fn MPI_Imrecv(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, message: *mut MPI_Message, request: *mut MPI_Request) -> c_int => immediate::imrecv;

            hook fn MPI_Send_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::send_init;
            hook fn MPI_Ssend_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::ssend_init;
            hook fn MPI_Rsend_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::rsend_init;
            hook fn MPI_Bsend_init(buf: *const c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::bsend_init;
            hook fn MPI_Recv_init(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int => immediate::recv_init;
            hook fn MPI_Start(request: *mut MPI_Request) -> c_int => persistent::start;
            hook fn MPI_Startall(count: c_int, requests: *mut MPI_Request) -> c_int => persistent::startall;

            hook fn MPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) -> c_int => request::wait;
            hook fn MPI_Waitall(count: c_int, requests: *mut MPI_Request, statuses: *mut MPI_Status) -> c_int => request::waitall;
            hook fn MPI_Waitany(count: c_int, requests: *mut MPI_Request, index: *mut c_int, status: *mut MPI_Status) -> c_int => request::waitany;
            hook fn MPI_Waitsome(incount: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status) -> c_int => request::waitsome;
            hook fn MPI_Test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status) -> c_int => request::test;
            hook fn MPI_Testall(count: c_int, requests: *mut MPI_Request, flag: *mut c_int, statuses: *mut MPI_Status) -> c_int => request::testall;
            hook fn MPI_Testany(count: c_int, requests: *mut MPI_Request, index: *mut c_int, flag: *mut c_int, status: *mut MPI_Status) -> c_int => request::testany;
            hook fn MPI_Testsome(incount: c_int, requests: *mut MPI_Request, outcount: *mut c_int, indices: *mut c_int, statuses: *mut MPI_Status) -> c_int => request::testsome;
            hook fn MPI_Request_free(request: *mut MPI_Request) -> c_int => request::free;
            hook fn MPI_Request_get_status(request: MPI_Request, flag: *mut c_int, status: *mut MPI_Status) -> c_int => request::get_status;

            call fn MPI_Initialized(flag: *mut c_int) -> c_int;
            call fn MPI_Finalized(flag: *mut c_int) -> c_int;
            call fn MPI_Get_library_version(version: *mut c_char, resultlen: *mut c_int) -> c_int;
            call fn MPI_Comm_rank(comm: MPI_Comm, rank: *mut c_int) -> c_int;
            call fn MPI_Comm_call_errhandler(comm: MPI_Comm, errorcode: c_int) -> c_int;
            call fn MPI_Test_cancelled(status: *const MPI_Status, flag: *mut c_int) -> c_int;
            call fn MPI_Get_count(status: *const MPI_Status, datatype: MPI_Datatype, count: *mut c_int) -> c_int;
            maybe fn MPI_Get_elements_c(status: *const MPI_Status, datatype: MPI_Datatype, count: *mut MPI_Count) -> c_int;
            maybe fn MPI_Get_elements_x(status: *const MPI_Status, datatype: MPI_Datatype, count: *mut MPI_Count) -> c_int;
            call fn MPI_Type_size(datatype: MPI_Datatype, size: *mut c_int) -> c_int;
            call fn MPI_Type_get_extent(datatype: MPI_Datatype, lb: *mut MPI_Aint, extent: *mut MPI_Aint) -> c_int;
            call fn MPI_Type_get_true_extent(datatype: MPI_Datatype, true_lb: *mut MPI_Aint, true_extent: *mut MPI_Aint) -> c_int;
            call fn MPI_Type_get_name(datatype: MPI_Datatype, type_name: *mut c_char, resultlen: *mut c_int) -> c_int;
            call fn MPI_Type_get_envelope(datatype: MPI_Datatype, num_integers: *mut c_int, num_addresses: *mut c_int, num_datatypes: *mut c_int, combiner: *mut c_int) -> c_int;
            call fn MPI_Type_get_contents(datatype: MPI_Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int, integers: *mut c_int, addresses: *mut MPI_Aint, datatypes: *mut MPI_Datatype) -> c_int;
            call fn MPI_Type_free(datatype: *mut MPI_Datatype) -> c_int;
            call fn MPI_Type_contiguous(count: c_int, oldtype: MPI_Datatype, newtype: *mut MPI_Datatype) -> c_int;
            call fn MPI_Type_create_struct(count: c_int, blocklengths: *const c_int, displacements: *const MPI_Aint, types: *const MPI_Datatype, newtype: *mut MPI_Datatype) -> c_int;
            call fn MPI_Type_create_keyval(copy: *const c_void, delete: *const c_void, keyval: *mut c_int, extra_state: *mut c_void) -> c_int;
            call fn MPI_Type_set_attr(datatype: MPI_Datatype, keyval: c_int, value: *mut c_void) -> c_int;
            maybe fn MPI_Type_get_envelope_c(datatype: MPI_Datatype, num_integers: *mut MPI_Count, num_addresses: *mut MPI_Count, num_large_counts: *mut MPI_Count, num_datatypes: *mut MPI_Count, combiner: *mut c_int) -> c_int;
            maybe fn MPI_Type_get_contents_c(datatype: MPI_Datatype, max_integers: MPI_Count, max_addresses: MPI_Count, max_large_counts: MPI_Count, max_datatypes: MPI_Count, integers: *mut c_int, addresses: *mut MPI_Aint, large_counts: *mut MPI_Count, datatypes: *mut MPI_Datatype) -> c_int;
            maybe fn MPI_Type_size_x(datatype: MPI_Datatype, size: *mut MPI_Count) -> c_int;
            maybe fn MPI_Type_size_c(datatype: MPI_Datatype, size: *mut MPI_Count) -> c_int;
            maybe fn MPIX_Query_cuda_support() -> c_int;
            maybe fn MPI_Abi_get_version(abi_major: *mut c_int, abi_minor: *mut c_int) -> c_int;
        }
    };
}
