//! The one list of MPI functions.
//!
//! Everything is derived from it: our exports (`api`), the lazily bound calls to the system MPI (`next`), and the check
//! against a real `mpi.h` (`api::check`). Kinds of row:
//!
//! * `hook`: exported under its `MPI_` and `PMPI_` name; the body follows `=>`.
//! * `large`: a `hook` that not every MPI has; after `|` stands what serves the call where the MPI lacks it.
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
            hook fn MPI_Sendrecv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int => sendrecv::sendrecv;
            hook fn MPI_Sendrecv_replace(buf: *mut c_void, count: c_int, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int => sendrecv::sendrecv_replace;

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

            large fn MPI_Pack_c(inbuf: *const c_void, incount: MPI_Count, datatype: MPI_Datatype, outbuf: *mut c_void, outsize: MPI_Count, position: *mut MPI_Count, comm: MPI_Comm) -> c_int | large::pack => pack_large::pack_c;
            large fn MPI_Unpack_c(inbuf: *const c_void, insize: MPI_Count, position: *mut MPI_Count, outbuf: *mut c_void, outcount: MPI_Count, datatype: MPI_Datatype, comm: MPI_Comm) -> c_int | large::unpack => pack_large::unpack_c;
            large fn MPI_Send_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int | large::send => p2p::send_c;
            large fn MPI_Ssend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int | large::ssend => p2p::ssend_c;
            large fn MPI_Rsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int | large::rsend => p2p::rsend_c;
            large fn MPI_Bsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm) -> c_int | large::bsend => p2p::bsend_c;
            large fn MPI_Recv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int | large::recv => p2p::recv_c;
            large fn MPI_Mrecv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, message: *mut MPI_Message, status: *mut MPI_Status) -> c_int | large::mrecv => p2p::mrecv_c;
            large fn MPI_Sendrecv_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int | large::sendrecv => sendrecv::sendrecv_c;
            large fn MPI_Sendrecv_replace_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int, recvtag: c_int, comm: MPI_Comm, status: *mut MPI_Status) -> c_int | large::sendrecv_replace => sendrecv::sendrecv_replace_c;
            large fn MPI_Isend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::isend => immediate::isend_c;
            large fn MPI_Issend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::issend => immediate::issend_c;
            large fn MPI_Irsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::irsend => immediate::irsend_c;
            large fn MPI_Ibsend_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::ibsend => immediate::ibsend_c;
            large fn MPI_Irecv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::irecv => immediate::irecv_c;
            large fn MPI_Imrecv_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, message: *mut MPI_Message, request: *mut MPI_Request) -> c_int | large::imrecv => immediate::imrecv_c;
            large fn MPI_Send_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::send_init => immediate::send_init_c;
            large fn MPI_Ssend_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::ssend_init => immediate::ssend_init_c;
            large fn MPI_Rsend_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::rsend_init => immediate::rsend_init_c;
            large fn MPI_Bsend_init_c(buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::bsend_init => immediate::bsend_init_c;
            large fn MPI_Recv_init_c(buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm, request: *mut MPI_Request) -> c_int | large::recv_init => immediate::recv_init_c;

            call fn MPI_Initialized(flag: *mut c_int) -> c_int;
            call fn MPI_Finalized(flag: *mut c_int) -> c_int;
            call fn MPI_Get_library_version(version: *mut c_char, resultlen: *mut c_int) -> c_int;
            call fn MPI_Query_thread(provided: *mut c_int) -> c_int;
            call fn MPI_Comm_rank(comm: MPI_Comm, rank: *mut c_int) -> c_int;
            call fn MPI_Comm_call_errhandler(comm: MPI_Comm, errorcode: c_int) -> c_int;
            call fn MPI_Mprobe(source: c_int, tag: c_int, comm: MPI_Comm, message: *mut MPI_Message, status: *mut MPI_Status) -> c_int;
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

/// Expand `$m!` over the relays: every function that each MPI of MPI-3.1 has and that is no `hook`, exported under both names to see to what
/// was put off before the system's own function runs ([`super::relay`]).
///
/// `tests/relay.rs` compares the list with the MPIs at hand. Not in it: what only some of them have, `MPI_T_*`, and what need not be seen
/// (`relay::HARMLESS`).
macro_rules! relay_table {
    ($m:ident) => {
        $m! {
            MPI_Accumulate MPI_Add_error_class MPI_Add_error_code MPI_Add_error_string MPI_Address MPI_Allgather MPI_Allgatherv
            MPI_Alloc_mem MPI_Allreduce MPI_Alltoall MPI_Alltoallv MPI_Alltoallw MPI_Attr_delete MPI_Attr_get MPI_Attr_put
            MPI_Barrier MPI_Bcast MPI_Buffer_attach MPI_Buffer_detach MPI_Cancel MPI_Cart_coords MPI_Cart_create MPI_Cart_get
            MPI_Cart_map MPI_Cart_rank MPI_Cart_shift MPI_Cart_sub MPI_Cartdim_get MPI_Close_port MPI_Comm_accept
            MPI_Comm_call_errhandler MPI_Comm_compare MPI_Comm_connect MPI_Comm_create MPI_Comm_create_errhandler
            MPI_Comm_create_group MPI_Comm_create_keyval MPI_Comm_delete_attr MPI_Comm_disconnect MPI_Comm_dup
            MPI_Comm_dup_with_info MPI_Comm_free MPI_Comm_free_keyval MPI_Comm_get_attr MPI_Comm_get_errhandler
            MPI_Comm_get_info MPI_Comm_get_name MPI_Comm_get_parent MPI_Comm_group MPI_Comm_idup MPI_Comm_join MPI_Comm_rank
            MPI_Comm_remote_group MPI_Comm_remote_size MPI_Comm_set_attr MPI_Comm_set_errhandler MPI_Comm_set_info
            MPI_Comm_set_name MPI_Comm_size MPI_Comm_spawn MPI_Comm_spawn_multiple MPI_Comm_split MPI_Comm_split_type
            MPI_Comm_test_inter MPI_Compare_and_swap MPI_Dims_create MPI_Dist_graph_create MPI_Dist_graph_create_adjacent
            MPI_Dist_graph_neighbors MPI_Dist_graph_neighbors_count MPI_Errhandler_create MPI_Errhandler_free MPI_Errhandler_get
            MPI_Errhandler_set MPI_Error_class MPI_Error_string MPI_Exscan MPI_Fetch_and_op MPI_File_call_errhandler
            MPI_File_close MPI_File_create_errhandler MPI_File_delete MPI_File_get_amode MPI_File_get_atomicity
            MPI_File_get_byte_offset MPI_File_get_errhandler MPI_File_get_group MPI_File_get_info MPI_File_get_position
            MPI_File_get_position_shared MPI_File_get_size MPI_File_get_type_extent MPI_File_get_view MPI_File_iread
            MPI_File_iread_all MPI_File_iread_at MPI_File_iread_at_all MPI_File_iread_shared MPI_File_iwrite MPI_File_iwrite_all
            MPI_File_iwrite_at MPI_File_iwrite_at_all MPI_File_iwrite_shared MPI_File_open MPI_File_preallocate MPI_File_read
            MPI_File_read_all MPI_File_read_all_begin MPI_File_read_all_end MPI_File_read_at MPI_File_read_at_all
            MPI_File_read_at_all_begin MPI_File_read_at_all_end MPI_File_read_ordered MPI_File_read_ordered_begin
            MPI_File_read_ordered_end MPI_File_read_shared MPI_File_seek MPI_File_seek_shared MPI_File_set_atomicity
            MPI_File_set_errhandler MPI_File_set_info MPI_File_set_size MPI_File_set_view MPI_File_sync MPI_File_write
            MPI_File_write_all MPI_File_write_all_begin MPI_File_write_all_end MPI_File_write_at MPI_File_write_at_all
            MPI_File_write_at_all_begin MPI_File_write_at_all_end MPI_File_write_ordered MPI_File_write_ordered_begin
            MPI_File_write_ordered_end MPI_File_write_shared MPI_Free_mem MPI_Gather MPI_Gatherv MPI_Get MPI_Get_accumulate
            MPI_Get_address MPI_Get_count MPI_Get_elements MPI_Get_elements_x MPI_Get_processor_name MPI_Graph_create
            MPI_Graph_get MPI_Graph_map MPI_Graph_neighbors MPI_Graph_neighbors_count MPI_Graphdims_get MPI_Grequest_complete
            MPI_Grequest_start MPI_Group_compare MPI_Group_difference MPI_Group_excl MPI_Group_free MPI_Group_incl
            MPI_Group_intersection MPI_Group_range_excl MPI_Group_range_incl MPI_Group_rank MPI_Group_size
            MPI_Group_translate_ranks MPI_Group_union MPI_Iallgather MPI_Iallgatherv MPI_Iallreduce MPI_Ialltoall MPI_Ialltoallv
            MPI_Ialltoallw MPI_Ibarrier MPI_Ibcast MPI_Iexscan MPI_Igather MPI_Igatherv MPI_Improbe MPI_Ineighbor_allgather
            MPI_Ineighbor_allgatherv MPI_Ineighbor_alltoall MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallw MPI_Info_create
            MPI_Info_delete MPI_Info_dup MPI_Info_free MPI_Info_get MPI_Info_get_nkeys MPI_Info_get_nthkey MPI_Info_get_valuelen
            MPI_Info_set MPI_Intercomm_create MPI_Intercomm_merge MPI_Iprobe MPI_Ireduce MPI_Ireduce_scatter
            MPI_Ireduce_scatter_block MPI_Is_thread_main MPI_Iscan MPI_Iscatter MPI_Iscatterv MPI_Keyval_create MPI_Keyval_free
            MPI_Lookup_name MPI_Mprobe MPI_Neighbor_allgather MPI_Neighbor_allgatherv MPI_Neighbor_alltoall
            MPI_Neighbor_alltoallv MPI_Neighbor_alltoallw MPI_Op_commutative MPI_Op_create MPI_Op_free MPI_Open_port
            MPI_Pack_external MPI_Pack_external_size MPI_Pack_size MPI_Pcontrol MPI_Probe MPI_Publish_name MPI_Put
            MPI_Query_thread MPI_Raccumulate MPI_Reduce MPI_Reduce_local MPI_Reduce_scatter MPI_Reduce_scatter_block
            MPI_Register_datarep MPI_Rget MPI_Rget_accumulate MPI_Rput MPI_Scan MPI_Scatter MPI_Scatterv
            MPI_Status_set_cancelled MPI_Status_set_elements MPI_Status_set_elements_x MPI_Test_cancelled MPI_Topo_test
            MPI_Type_contiguous MPI_Type_create_darray MPI_Type_create_f90_complex MPI_Type_create_f90_integer
            MPI_Type_create_f90_real MPI_Type_create_hindexed MPI_Type_create_hindexed_block MPI_Type_create_hvector
            MPI_Type_create_indexed_block MPI_Type_create_keyval MPI_Type_create_resized MPI_Type_create_struct
            MPI_Type_create_subarray MPI_Type_delete_attr MPI_Type_dup MPI_Type_extent MPI_Type_free MPI_Type_free_keyval
            MPI_Type_get_attr MPI_Type_get_contents MPI_Type_get_envelope MPI_Type_get_extent MPI_Type_get_extent_x
            MPI_Type_get_name MPI_Type_get_true_extent MPI_Type_get_true_extent_x MPI_Type_hindexed MPI_Type_hvector
            MPI_Type_indexed MPI_Type_lb MPI_Type_match_size MPI_Type_set_attr MPI_Type_set_name MPI_Type_size MPI_Type_size_x
            MPI_Type_struct MPI_Type_ub MPI_Type_vector MPI_Unpack_external MPI_Unpublish_name MPI_Win_allocate
            MPI_Win_allocate_shared MPI_Win_attach MPI_Win_call_errhandler MPI_Win_complete MPI_Win_create
            MPI_Win_create_dynamic MPI_Win_create_errhandler MPI_Win_create_keyval MPI_Win_delete_attr MPI_Win_detach
            MPI_Win_fence MPI_Win_flush MPI_Win_flush_all MPI_Win_flush_local MPI_Win_flush_local_all MPI_Win_free
            MPI_Win_free_keyval MPI_Win_get_attr MPI_Win_get_errhandler MPI_Win_get_group MPI_Win_get_info MPI_Win_get_name
            MPI_Win_lock MPI_Win_lock_all MPI_Win_post MPI_Win_set_attr MPI_Win_set_errhandler MPI_Win_set_info MPI_Win_set_name
            MPI_Win_shared_query MPI_Win_start MPI_Win_sync MPI_Win_test MPI_Win_unlock MPI_Win_unlock_all MPI_Win_wait
            MPI_Wtime
        }
    };
}
