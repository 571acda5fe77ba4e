//! Whether the MPI takes device pointers.

use super::family::{Family, family};
use super::next;
use crate::config;
use once_cell::sync::OnceCell;

/// Whether device buffers may be handed to the system MPI. Decided once: the user's word, else the MPI's own
/// (`MPIX_Query_cuda_support`), corrected where the launch is known to leave the CUDA-aware transport out.
pub fn cuda_aware() -> bool {
    static AWARE: OnceCell<bool> = OnceCell::new();
    *AWARE.get_or_init(|| {
        config::get().cuda_aware.unwrap_or_else(|| {
            claims()
                && !transport_left_out(std::env::var("OMPI_MCA_btl").ok(), std::env::var("OMPI_MCA_pml").ok())
        })
    })
}

fn claims() -> bool {
    // SAFETY: the function takes nothing and may be called at any time.
    next::available(c"MPIX_Query_cuda_support") && unsafe { next::MPIX_Query_cuda_support() } == 1
}

/// Open MPI built with CUDA crashes on device buffers when its list of byte transports names neither `smcuda` nor `uct` (seen with 4.1.4 and
/// `--mca btl vader,self`), unless a PML with transports of its own is chosen.
fn transport_left_out(btl: Option<String>, pml: Option<String>) -> bool {
    let own_transport = pml.is_some_and(|p| p.contains("ucx") || p.contains("cm"));
    family() == Family::OpenMpi
        && !own_transport
        && btl
            .is_some_and(|list| !list.starts_with('^') && !["smcuda", "uct"].iter().any(|t| list.contains(t)))
}

/// Whether this MPI may write past the end of a device buffer when the message is longer. Open MPI 4.1.4 does (shared memory, `smcuda`;
/// seen with plain contiguous buffers): it copies what was sent, and then reports `MPI_ERR_TRUNCATE`.
pub fn overruns() -> bool {
    family() == Family::OpenMpi
}
