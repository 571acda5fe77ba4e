//! What a message would cost, method by method.
//!
//! Pure. The times are sums as in the TEMPI paper (HPDC'21, section 5): pack, transfer of packed bytes, unpack, each read from a
//! curve over the size in bytes. The built-in curves were measured on one machine (see [`defaults`]); only their order of
//! magnitude is claimed elsewhere.
#![forbid(unsafe_code)]

pub mod curve;
pub mod defaults;

use crate::config::Method;
pub use curve::Curve;

/// Curves of one machine: microseconds over bytes.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Kernel that packs from device to device memory, with its completion.
    pub pack_device: Curve,
    /// Kernel that packs into mapped host memory, with its completion.
    pub pack_mapped: Curve,
    /// Copy from the device to pinned host memory, with its completion.
    pub copy: Curve,
    /// Message of a contiguous host buffer, one way.
    pub message_host: Curve,
    /// Message of a contiguous device buffer, one way.
    pub message_device: Curve,
}

impl Machine {
    /// Microseconds for a strided message of `bytes` packed bytes, receiver's side included.
    pub fn strided(&self, method: Method, bytes: f64) -> f64 {
        match method {
            Method::Device => 2.0 * self.pack_device.at(bytes) + self.message_device.at(bytes),
            Method::Oneshot => 2.0 * self.pack_mapped.at(bytes) + self.message_host.at(bytes),
            Method::Staged => {
                2.0 * (self.pack_device.at(bytes) + self.copy.at(bytes)) + self.message_host.at(bytes)
            }
        }
    }

    /// The method for a strided message of `bytes` packed bytes; without `device` where the MPI is not CUDA-aware.
    pub fn choose(&self, bytes: f64, cuda_aware: bool) -> Method {
        let host = if self.strided(Method::Oneshot, bytes) <= self.strided(Method::Staged, bytes) {
            Method::Oneshot
        } else {
            Method::Staged
        };
        if cuda_aware && self.strided(Method::Device, bytes) < self.strided(host, bytes) {
            Method::Device
        } else {
            host
        }
    }

    /// Whether a contiguous device message of `bytes` is faster through the host.
    pub fn contiguous_staged(&self, bytes: f64) -> bool {
        2.0 * self.copy.at(bytes) + self.message_host.at(bytes) < self.message_device.at(bytes)
    }
}
