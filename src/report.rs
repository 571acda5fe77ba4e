//! What was done: counters of accelerated and forwarded calls, and their report.
//!
//! Counting costs nothing unless a report was asked for: [`on`] is one relaxed load.
#![forbid(unsafe_code)]

use crate::config::{self, Method, ReportTo};
use crate::reason::Reason;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

macro_rules! calls {
    ($($name:ident => $text:literal,)*) => {
        /// The functions that are counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(usize)]
        #[allow(missing_docs)] // each is the MPI function of its name
        pub enum Call { $($name,)* }

        const CALLS: &[&str] = &[$($text,)*];
    };
}

calls! {
    Pack => "MPI_Pack",
    Unpack => "MPI_Unpack",
    Send => "MPI_Send",
    Ssend => "MPI_Ssend",
    Rsend => "MPI_Rsend",
    Bsend => "MPI_Bsend",
    Recv => "MPI_Recv",
    Mrecv => "MPI_Mrecv",
    Sendrecv => "MPI_Sendrecv",
    SendrecvReplace => "MPI_Sendrecv_replace",
    Isend => "MPI_Isend",
    Issend => "MPI_Issend",
    Irsend => "MPI_Irsend",
    Ibsend => "MPI_Ibsend",
    Irecv => "MPI_Irecv",
    Imrecv => "MPI_Imrecv",
    SendInit => "MPI_Send_init",
    SsendInit => "MPI_Ssend_init",
    RsendInit => "MPI_Rsend_init",
    BsendInit => "MPI_Bsend_init",
    RecvInit => "MPI_Recv_init",
    PackC => "MPI_Pack_c",
    UnpackC => "MPI_Unpack_c",
    SendC => "MPI_Send_c",
    SsendC => "MPI_Ssend_c",
    RsendC => "MPI_Rsend_c",
    BsendC => "MPI_Bsend_c",
    RecvC => "MPI_Recv_c",
    MrecvC => "MPI_Mrecv_c",
    SendrecvC => "MPI_Sendrecv_c",
    SendrecvReplaceC => "MPI_Sendrecv_replace_c",
    IsendC => "MPI_Isend_c",
    IssendC => "MPI_Issend_c",
    IrsendC => "MPI_Irsend_c",
    IbsendC => "MPI_Ibsend_c",
    IrecvC => "MPI_Irecv_c",
    ImrecvC => "MPI_Imrecv_c",
    SendInitC => "MPI_Send_init_c",
    SsendInitC => "MPI_Ssend_init_c",
    RsendInitC => "MPI_Rsend_init_c",
    BsendInitC => "MPI_Bsend_init_c",
    RecvInitC => "MPI_Recv_init_c",
}

/// By what means a call was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Means {
    /// CPU loops in host memory.
    Host,
    /// A kernel from device memory to device memory.
    Device,
    /// A kernel between device memory and mapped host memory.
    Oneshot,
    /// A kernel in device memory and a copy to or from the host.
    Staged,
    /// A copy: the data was contiguous.
    Copy,
}

const MEANS: &[&str] = &["host", "device", "oneshot", "staged", "copy"];

impl From<Method> for Means {
    fn from(method: Method) -> Self {
        match method {
            Method::Device => Self::Device,
            Method::Oneshot => Self::Oneshot,
            Method::Staged => Self::Staged,
        }
    }
}

struct Tally {
    calls: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

const REASONS: usize = Reason::ALL.len();
static ON: AtomicBool = AtomicBool::new(false);
static DONE: [[Tally; MEANS.len()]; CALLS.len()] = [const {
    [const { Tally { calls: AtomicU64::new(0), bytes: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) } };
        MEANS.len()]
}; CALLS.len()];
static FORWARDED: [[AtomicU64; REASONS]; CALLS.len()] =
    [const { [const { AtomicU64::new(0) }; REASONS] }; CALLS.len()];

/// Kernels, and messages that had one in common.
static LAUNCHES: AtomicU64 = AtomicU64::new(0);
static FUSED: AtomicU64 = AtomicU64::new(0);

/// Count from now on, if the configuration asks for a report.
pub fn start() {
    ON.store(config::get().report != ReportTo::Nowhere, Relaxed);
}

/// Whether calls are counted.
#[inline]
pub fn on() -> bool {
    ON.load(Relaxed)
}

/// A clock that only runs when calls are counted.
#[inline]
pub fn clock() -> Option<Instant> {
    on().then(Instant::now)
}

/// Count a kernel.
#[inline]
pub fn launched() {
    if on() {
        LAUNCHES.fetch_add(1, Relaxed);
    }
}

/// Count messages that were packed, or unpacked, together.
#[inline]
pub fn fused(messages: usize) {
    if on() {
        FUSED.fetch_add(messages as u64, Relaxed);
    }
}

/// Count a forwarded call.
#[inline]
pub fn forwarded(call: Call, reason: Reason) {
    if on() {
        count_forwarded(call, reason);
    }
}

#[cold]
fn count_forwarded(call: Call, reason: Reason) {
    if let Some(n) = FORWARDED.get(call as usize).and_then(|row| row.get(reason as usize)) {
        n.fetch_add(1, Relaxed);
    }
}

/// Count an accelerated call of `bytes` packed bytes that began at `since`.
#[inline]
pub fn done(call: Call, means: Means, bytes: u64, since: Option<Instant>) {
    if let Some(since) = since {
        count_done(call, means, bytes, since);
    }
}

#[cold]
fn count_done(call: Call, means: Means, bytes: u64, since: Instant) {
    if let Some(tally) = DONE.get(call as usize).and_then(|row| row.get(means as usize)) {
        tally.calls.fetch_add(1, Relaxed);
        tally.bytes.fetch_add(bytes, Relaxed);
        let spent = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        tally.nanoseconds.fetch_add(spent, Relaxed);
    }
}

/// One line of accelerated calls.
#[derive(Serialize)]
struct Accelerated {
    function: &'static str,
    means: &'static str,
    calls: u64,
    bytes: u64,
    seconds: f64,
}

/// One line of forwarded calls.
#[derive(Serialize)]
struct Passed {
    function: &'static str,
    reason: &'static str,
    calls: u64,
}

#[derive(Serialize)]
struct Report {
    rank: i32,
    accelerated: Vec<Accelerated>,
    forwarded: Vec<Passed>,
    /// Kernels launched.
    kernels: u64,
    /// Messages that were packed or unpacked together with others.
    fused: u64,
}

impl Report {
    fn read(rank: i32) -> Self {
        let [kernels, fused] = [&LAUNCHES, &FUSED].map(|n| n.load(Relaxed));
        let mut report = Self { rank, accelerated: Vec::new(), forwarded: Vec::new(), kernels, fused };
        for (function, row) in CALLS.iter().zip(&DONE) {
            for (means, tally) in MEANS.iter().zip(row) {
                let calls = tally.calls.load(Relaxed);
                if calls > 0 {
                    #[allow(clippy::cast_precision_loss)] // a report's seconds
                    let seconds = tally.nanoseconds.load(Relaxed) as f64 * 1e-9;
                    report.accelerated.push(Accelerated {
                        function,
                        means,
                        calls,
                        bytes: tally.bytes.load(Relaxed),
                        seconds,
                    });
                }
            }
        }
        for (function, row) in CALLS.iter().zip(&FORWARDED) {
            for (reason, n) in Reason::ALL.iter().zip(row) {
                let calls = n.load(Relaxed);
                if calls > 0 {
                    report.forwarded.push(Passed { function, reason: reason.text(), calls });
                }
            }
        }
        report
    }

    fn text(&self) -> String {
        let mut text = format!("tempi report, rank {}\n", self.rank);
        let _ = writeln!(text, "  accelerated            means       calls           bytes    seconds");
        for a in &self.accelerated {
            let _ = writeln!(
                text,
                "  {:<22} {:<8} {:>8} {:>15} {:>10.6}",
                a.function, a.means, a.calls, a.bytes, a.seconds
            );
        }
        let _ = writeln!(
            text,
            "  kernels launched       {:>8}  for {} messages moved together",
            self.kernels, self.fused
        );
        let _ = writeln!(text, "  forwarded                 calls  reason");
        for f in &self.forwarded {
            let _ = writeln!(text, "  {:<22} {:>8}  {}", f.function, f.calls, f.reason);
        }
        text
    }
}

/// Write the report where the configuration wants it.
pub fn write(rank: i32) {
    match &config::get().report {
        ReportTo::Nowhere => {}
        ReportTo::Text => {
            // A closed stderr is no reason to fail (and `eprint!` would panic).
            let _ = std::io::stderr().write_all(Report::read(rank).text().as_bytes());
        }
        ReportTo::Json(path) => {
            let path = path.replace("%r", &rank.to_string());
            let written = serde_json::to_vec_pretty(&Report::read(rank))
                .map_err(std::io::Error::from)
                .and_then(|json| std::fs::write(&path, json));
            if let Err(error) = written {
                tracing::warn!(path, %error, "the report could not be written");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_reported() {
        count_forwarded(Call::Mrecv, Reason::ProcNull);
        count_done(Call::Pack, Means::Oneshot, 640, Instant::now());
        count_done(Call::Pack, Means::Oneshot, 60, Instant::now());
        let report = Report::read(3);
        let pack = report.accelerated.iter().find(|a| a.function == "MPI_Pack").expect("counted");
        assert_eq!((pack.means, pack.calls, pack.bytes), ("oneshot", 2, 700));
        let passed = report.forwarded.iter().find(|f| f.function == "MPI_Mrecv").expect("counted");
        assert_eq!((passed.reason, passed.calls), ("peer is MPI_PROC_NULL", 1));
        assert!(report.text().contains("rank 3"));
        assert!(serde_json::to_string(&report).expect("json").contains("\"calls\":2"));
    }
}
