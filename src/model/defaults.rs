//! Curves for a machine that nobody has measured.
//!
//! Taken on one H200 (CUDA 13.0, driver 580) under a CUDA-aware Open MPI 4.1.4, shared memory. Ranks that share a GPU take
//! turns on it, which makes any device message cost what a turn costs; ranks with a GPU each do not.
#![forbid(unsafe_code)]

use super::{Curve, Machine};

const K: f64 = 1024.0;
const M: f64 = 1024.0 * 1024.0;

/// Whose GPU it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gpu {
    /// This rank's alone.
    Own,
    /// That of several ranks.
    Shared,
}

/// The curves for a message that travels while others do. On a shared GPU the MPI's own copies of device messages then wait for turns that
/// others keep: 3 ms a message were measured with four ranks that exchange halos (20 ms an exchange of 128³ doubles,
/// against 1.3 ms through the host).
pub fn crowded(gpu: Gpu) -> Option<Machine> {
    let machine = machine(gpu)?;
    let message_device = match gpu {
        Gpu::Own => machine.message_device,
        Gpu::Shared => Curve::new(&[(8.0, 3000.0), (16.0 * M, 3012.0), (128.0 * M, 3072.0)])?,
    };
    Some(Machine { message_device, ..machine })
}

/// The built-in curves. `None` cannot happen: the tests read all.
pub fn machine(gpu: Gpu) -> Option<Machine> {
    let pack_device =
        Curve::new(&[(K, 7.7), (64.0 * K, 8.9), (M, 9.2), (16.0 * M, 17.0), (128.0 * M, 76.0)])?;
    let message_host = Curve::new(&[(8.0, 1.0), (64.0 * K, 13.0), (M, 127.0), (16.0 * M, 2255.0)])?;
    Some(if gpu == Gpu::Shared {
        // A turn on the GPU costs 150 us. It is paid once: in the message where that is the device's, in the kernels or copies otherwise.
        Machine {
            pack_device,
            pack_mapped: Curve::new(&[
                (K, 77.0),
                (64.0 * K, 79.0),
                (M, 92.0),
                (16.0 * M, 340.0),
                (128.0 * M, 2600.0),
            ])?,
            copy: Curve::new(&[
                (K, 71.0),
                (64.0 * K, 72.0),
                (M, 75.0),
                (16.0 * M, 320.0),
                (128.0 * M, 2500.0),
            ])?,
            message_host,
            message_device: Curve::new(&[(8.0, 150.0), (M, 150.0), (16.0 * M, 162.0), (128.0 * M, 222.0)])?,
        }
    } else {
        Machine {
            pack_device,
            pack_mapped: Curve::new(&[
                (K, 8.0),
                (64.0 * K, 10.7),
                (M, 30.0),
                (16.0 * M, 334.0),
                (128.0 * M, 2600.0),
            ])?,
            copy: Curve::new(&[
                (K, 6.8),
                (64.0 * K, 8.8),
                (M, 27.0),
                (16.0 * M, 311.0),
                (128.0 * M, 2450.0),
            ])?,
            message_host,
            message_device: Curve::new(&[
                (K, 9.3),
                (64.0 * K, 9.6),
                (M, 12.4),
                (16.0 * M, 53.5),
                (128.0 * M, 355.0),
            ])?,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Method;

    #[test]
    fn a_shared_gpu_wants_the_host_for_small_messages() {
        let m = machine(Gpu::Shared).expect("sound");
        assert_eq!(m.choose(K, true), Method::Oneshot);
        assert_eq!(m.choose(16.0 * K, true), Method::Oneshot);
        assert_eq!(m.choose(256.0 * K, true), Method::Device);
        assert_eq!(m.choose(4.0 * M, true), Method::Device);
        assert_eq!(m.choose(128.0 * M, true), Method::Device);
        assert!(m.contiguous_staged(K) && !m.contiguous_staged(16.0 * M));
    }

    #[test]
    fn messages_in_company_leave_a_shared_gpu_alone() {
        let m = crowded(Gpu::Shared).expect("sound");
        assert_eq!(m.choose(16.0 * K, true), Method::Oneshot);
        assert_eq!(m.choose(M, true), Method::Staged);
        assert_eq!(m.choose(128.0 * M, true), Method::Device);
        let m = crowded(Gpu::Own).expect("sound");
        assert_eq!(m.choose(M, true), Method::Device);
    }

    #[test]
    fn a_gpu_of_ones_own_goes_direct_earlier() {
        let m = machine(Gpu::Own).expect("sound");
        assert_eq!(m.choose(K, true), Method::Oneshot);
        assert_eq!(m.choose(256.0 * K, true), Method::Device);
    }

    #[test]
    fn an_mpi_that_is_not_cuda_aware_never_gets_device() {
        let m = machine(Gpu::Shared).expect("sound");
        for bytes in [1.0, K, M, 128.0 * M, 1e12] {
            assert_ne!(m.choose(bytes, false), Method::Device);
        }
    }
}
