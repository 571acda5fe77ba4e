//! Which way a message goes. Pure, but for [`machine`].
#![forbid(unsafe_code)]

use crate::config::{self, Config, Method};
use crate::cuda::{self, CudaError, Kind};
use crate::model::defaults::Gpu;
use crate::model::{Machine, defaults};
use crate::reason::Reason;
use once_cell::sync::OnceCell;

/// What decides.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Where the data lies.
    pub kind: Kind,
    /// Whether the data is one block.
    pub contiguous: bool,
    /// Packed bytes.
    pub bytes: usize,
    /// Whether the MPI takes device pointers for this call.
    pub cuda_aware: bool,
}

/// What else is under way, as a rule, while a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// Nothing: the call blocks until the message is through.
    Alone,
    /// Other messages, of this rank and of others.
    Others,
}

/// How a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One block, copied through the host.
    Copy,
    /// Packed by a kernel.
    Pack(Method),
}

impl Way {
    /// Do `work` this way, and if that fails by the other ways of packing: memory of one kind may be gone and that of another not.
    /// Every attempt must leave things so that the next one can be made.
    ///
    /// # Errors
    /// The last attempt's.
    pub fn attempt<T>(self, work: impl Fn(Self) -> Result<T, CudaError>) -> Result<T, CudaError> {
        let others: &[Method] = match self {
            Self::Copy => &[],
            Self::Pack(Method::Device) => &[Method::Oneshot, Method::Staged],
            Self::Pack(Method::Oneshot) => &[Method::Staged],
            Self::Pack(Method::Staged) => &[Method::Oneshot],
        };
        others.iter().fold(work(self), |done, method| {
            done.or_else(|error| {
                tracing::debug!(%error, ?method, "another way is tried");
                work(Self::Pack(*method))
            })
        })
    }
}

/// The way of a message, or the reason to forward it.
///
/// # Errors
/// The reason.
pub fn choose(case: Case, config: &Config, machine: Option<&Machine>) -> Result<Way, Reason> {
    match case.kind {
        Kind::Host | Kind::Pinned { .. } => return Err(Reason::HostBuffer),
        Kind::Device | Kind::Managed => {}
    }
    #[allow(clippy::cast_precision_loss)] // a size on a logarithmic axis
    let bytes = case.bytes as f64;
    if case.contiguous {
        let through_host = !case.cuda_aware
            || config.contiguous_staged
            || config.contiguous_auto && machine.is_some_and(|m| m.contiguous_staged(bytes));
        // Every MPI reaches managed memory, as host memory if nothing else.
        return if through_host && case.kind == Kind::Device {
            Ok(Way::Copy)
        } else {
            Err(Reason::Contiguous)
        };
    }
    let method = match config.datatype {
        Some(Method::Device) if !case.cuda_aware => Method::Oneshot,
        Some(method) => method,
        None => machine.map_or(Method::Oneshot, |m| m.choose(bytes, case.cuda_aware)),
    };
    Ok(Way::Pack(method))
}

/// The curves of this machine: built in, by whether the ranks of this node share its GPUs.
pub fn machine(company: Company) -> Option<&'static Machine> {
    static ALONE: OnceCell<Option<Machine>> = OnceCell::new();
    static OTHERS: OnceCell<Option<Machine>> = OnceCell::new();
    let (curves, make): (_, fn(Gpu) -> Option<Machine>) = match company {
        Company::Alone => (&ALONE, defaults::machine),
        Company::Others => (&OTHERS, defaults::crowded),
    };
    let make = || {
        let devices = cuda::context::device_count().unwrap_or(1).max(1);
        let shared = config::get().local_ranks.unwrap_or(1) > devices;
        make(if shared { Gpu::Shared } else { Gpu::Own })
    };
    curves.get_or_init(make).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRIDED: Case = Case { kind: Kind::Device, contiguous: false, bytes: 1024, cuda_aware: true };
    const CONTIGUOUS: Case = Case { contiguous: true, ..STRIDED };

    fn way(case: Case, set: impl FnOnce(&mut Config)) -> Result<Way, Reason> {
        let mut config = Config::default();
        set(&mut config);
        choose(case, &config, defaults::machine(Gpu::Shared).as_ref())
    }

    #[test]
    fn host_memory_is_the_mpis() {
        for kind in [Kind::Host, Kind::Pinned { device: 64 }] {
            assert_eq!(way(Case { kind, ..STRIDED }, |_| ()), Err(Reason::HostBuffer));
        }
    }

    #[test]
    fn a_forced_method_is_taken_where_it_can_be() {
        for method in [Method::Device, Method::Oneshot, Method::Staged] {
            assert_eq!(way(STRIDED, |c| c.datatype = Some(method)), Ok(Way::Pack(method)));
        }
        let unaware = Case { cuda_aware: false, ..STRIDED };
        assert_eq!(way(unaware, |c| c.datatype = Some(Method::Device)), Ok(Way::Pack(Method::Oneshot)));
    }

    #[test]
    fn contiguous_data_goes_through_the_host_only_where_it_must_or_is_told() {
        assert_eq!(way(CONTIGUOUS, |_| ()), Err(Reason::Contiguous));
        assert_eq!(way(CONTIGUOUS, |c| c.contiguous_staged = true), Ok(Way::Copy));
        assert_eq!(way(CONTIGUOUS, |c| c.contiguous_auto = true), Ok(Way::Copy));
        let large = Case { bytes: 64 << 20, ..CONTIGUOUS };
        assert_eq!(way(large, |c| c.contiguous_auto = true), Err(Reason::Contiguous));
        assert_eq!(way(Case { cuda_aware: false, ..CONTIGUOUS }, |_| ()), Ok(Way::Copy));
        assert_eq!(
            way(Case { cuda_aware: false, kind: Kind::Managed, ..CONTIGUOUS }, |_| ()),
            Err(Reason::Contiguous)
        );
    }

    #[test]
    fn a_way_that_fails_is_followed_by_the_others() {
        use std::cell::RefCell;
        let tried = |way: Way, works: Option<Method>| {
            let ways = RefCell::new(Vec::new());
            let done = way.attempt(|way| {
                ways.borrow_mut().push(way);
                let error = CudaError { call: "cuMemAlloc_v2", code: 2 };
                if works.map(Way::Pack) == Some(way) { Ok(way) } else { Err(error) }
            });
            (ways.into_inner(), done.ok())
        };
        let [device, oneshot, staged] = [Method::Device, Method::Oneshot, Method::Staged].map(Way::Pack);
        assert_eq!(tried(device, Some(Method::Device)), (vec![device], Some(device)));
        assert_eq!(tried(device, Some(Method::Staged)), (vec![device, oneshot, staged], Some(staged)));
        assert_eq!(tried(oneshot, None), (vec![oneshot, staged], None));
        assert_eq!(tried(staged, Some(Method::Oneshot)), (vec![staged, oneshot], Some(oneshot)));
        assert_eq!(tried(Way::Copy, Some(Method::Oneshot)), (vec![Way::Copy], None));
    }

    #[test]
    fn the_model_decides_otherwise() {
        assert_eq!(way(STRIDED, |_| ()), Ok(Way::Pack(Method::Oneshot)));
        assert_eq!(way(Case { bytes: 16 << 20, ..STRIDED }, |_| ()), Ok(Way::Pack(Method::Device)));
    }
}
