//! The environment as one typed struct, read once.
//!
//! Names are TEMPI's where TEMPI has them. Values are parsed: `0`, `off`, `false` and `no` mean off; a value that cannot be read
//! and a `TEMPI_` name that does not exist are warned about once and change nothing.
#![forbid(unsafe_code)]

use once_cell::sync::OnceCell;
use tracing::level_filters::LevelFilter;

/// How strided device data is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Pack into device memory, give the MPI the device buffer.
    Device,
    /// Pack straight into mapped host memory, give the MPI the host buffer.
    Oneshot,
    /// Pack into device memory, copy to the host, give the MPI the host buffer.
    Staged,
}

/// Whether sends are deferred so that one kernel packs a burst of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fusion {
    /// Where another send is expected to follow at once.
    #[default]
    Auto,
    /// Always, until the next call that is no send.
    On,
    /// Never.
    Off,
}

/// Where the report goes at `MPI_Finalize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportTo {
    /// No report.
    Nowhere,
    /// Text on standard error.
    Text,
    /// JSON into a file; `%r` in the name is the rank.
    Json(String),
}

/// Where it is explained what becomes of each datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplainTo {
    /// Nowhere.
    Nowhere,
    /// On standard error.
    Text,
    /// In a file; `%r` in the name is the rank.
    File(String),
}

/// Everything that the environment decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `TEMPI_DISABLE`: forward everything.
    pub disable: bool,
    /// `TEMPI_NO_PACK`: forward `MPI_Pack` and `MPI_Unpack`.
    pub no_pack: bool,
    /// `TEMPI_NO_SEND`: forward the sending and receiving calls.
    pub no_send: bool,
    /// `TEMPI_NO_HOST`: forward what lies in host memory.
    pub no_host: bool,
    /// `TEMPI_HOST=always`: pack host memory with our loops wherever they can, not only where they are faster. For tests and
    /// measurements.
    pub host_always: bool,
    /// `TEMPI_NO_TYPE_COMMIT`: analyse no datatype, so that every derived type forwards.
    pub no_type_commit: bool,
    /// `TEMPI_NO_ALLTOALLV`: accepted for TEMPI's sake; all collectives forward.
    pub no_alltoallv: bool,
    /// `TEMPI_DATATYPE_{DEVICE,ONESHOT,STAGED,AUTO}`: the forced method, if any.
    pub datatype: Option<Method>,
    /// `TEMPI_CONTIGUOUS_STAGED`: contiguous device buffers go through the host.
    pub contiguous_staged: bool,
    /// `TEMPI_CONTIGUOUS_AUTO`: contiguous device buffers go the way that the model finds faster.
    pub contiguous_auto: bool,
    /// `TEMPI_CUDA_AWARE`: overrides what the MPI says of itself.
    pub cuda_aware: Option<bool>,
    /// `TEMPI_FUSION`: whether sends are deferred and packed together.
    pub fusion: Fusion,
    /// `TEMPI_STREAM_ORDER=none`: do not wait for the legacy default stream.
    pub unordered_stream: bool,
    /// `TEMPI_POOL_LIMIT`: bytes kept for reuse per memory kind and context.
    pub pool_limit: usize,
    /// `TEMPI_LIBMPI`: the file of the MPI to forward to.
    pub libmpi: Option<String>,
    /// `TEMPI_CACHE_DIR`: where measured models will live.
    pub cache_dir: Option<String>,
    /// `TEMPI_LOG`: warn, info, debug or trace.
    pub log: LevelFilter,
    /// `TEMPI_REPORT`: on, or the file of the JSON report.
    pub report: ReportTo,
    /// `TEMPI_EXPLAIN`: on, or the file.
    pub explain: ExplainTo,
    /// Ranks on this node as the launcher says, when it does.
    pub local_ranks: Option<u32>,
    /// The rank as the launcher says, when it does.
    pub rank: Option<i32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            disable: false,
            no_pack: false,
            no_send: false,
            no_host: false,
            host_always: false,
            no_type_commit: false,
            no_alltoallv: false,
            datatype: None,
            contiguous_staged: false,
            contiguous_auto: false,
            cuda_aware: None,
            fusion: Fusion::Auto,
            unordered_stream: false,
            pool_limit: 256 << 20,
            libmpi: None,
            cache_dir: None,
            log: LevelFilter::WARN,
            report: ReportTo::Nowhere,
            explain: ExplainTo::Nowhere,
            local_ranks: None,
            rank: None,
        }
    }
}

/// Every name that is read, for the warning about unknown ones.
pub const NAMES: &[&str] = &[
    "TEMPI_DISABLE",
    "TEMPI_NO_PACK",
    "TEMPI_NO_SEND",
    "TEMPI_NO_HOST",
    "TEMPI_HOST",
    "TEMPI_NO_TYPE_COMMIT",
    "TEMPI_NO_ALLTOALLV",
    "TEMPI_DATATYPE_DEVICE",
    "TEMPI_DATATYPE_ONESHOT",
    "TEMPI_DATATYPE_STAGED",
    "TEMPI_DATATYPE_AUTO",
    "TEMPI_CONTIGUOUS_STAGED",
    "TEMPI_CONTIGUOUS_AUTO",
    "TEMPI_CUDA_AWARE",
    "TEMPI_FUSION",
    "TEMPI_STREAM_ORDER",
    "TEMPI_POOL_LIMIT",
    "TEMPI_LIBMPI",
    "TEMPI_CACHE_DIR",
    "TEMPI_LOG",
    "TEMPI_REPORT",
    "TEMPI_EXPLAIN",
];

/// Launchers' names for the number of ranks on this node.
const LOCAL_RANKS: &[&str] = &["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"];

/// Launchers' names for the rank.
const RANK: &[&str] = &["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// The configuration of this process. The first call reads the environment, starts the log and warns.
pub fn get() -> &'static Config {
    static CONFIG: OnceCell<Config> = OnceCell::new();
    CONFIG.get_or_init(|| {
        let (config, warnings) = parse(std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        }));
        crate::log::start(config.log);
        // The ranks have the same environment, as a rule: one of them says it.
        if config.rank.unwrap_or(0) == 0 {
            for warning in warnings {
                tracing::warn!("{warning}");
            }
        }
        config
    })
}

/// Read variables into a [`Config`], with a line for each that could not be understood.
pub fn parse(variables: impl Iterator<Item = (String, String)>) -> (Config, Vec<String>) {
    let mut config = Config::default();
    let mut warnings = Vec::new();
    for (name, value) in variables {
        if LOCAL_RANKS.contains(&name.as_str()) {
            config.local_ranks = value.parse().ok();
        } else if RANK.contains(&name.as_str()) {
            config.rank = value.parse().ok().or(config.rank);
        } else if name.starts_with("TEMPI_") {
            match set(&mut config, &name, value.trim()) {
                Set::Done => {}
                Set::Unreadable(wanted) => {
                    warnings.push(format!("{name}={value} is not understood ({wanted}) and ignored"));
                }
                Set::Unknown => {
                    let near = nearest(&name).map_or(String::new(), |n| format!(", did you mean {n}?"));
                    warnings.push(format!("{name} is no variable of this library{near}"));
                }
            }
        }
    }
    (config, warnings)
}

enum Set {
    Done,
    Unreadable(&'static str),
    Unknown,
}

fn set(config: &mut Config, name: &str, value: &str) -> Set {
    let flag = match name {
        "TEMPI_DISABLE" => &mut config.disable,
        "TEMPI_NO_PACK" => &mut config.no_pack,
        "TEMPI_NO_SEND" => &mut config.no_send,
        "TEMPI_NO_HOST" => &mut config.no_host,
        "TEMPI_NO_TYPE_COMMIT" => &mut config.no_type_commit,
        "TEMPI_NO_ALLTOALLV" => &mut config.no_alltoallv,
        "TEMPI_CONTIGUOUS_STAGED" => &mut config.contiguous_staged,
        "TEMPI_CONTIGUOUS_AUTO" => &mut config.contiguous_auto,
        _ => return set_valued(config, name, value),
    };
    match switch(value) {
        Some(on) => {
            *flag = on;
            Set::Done
        }
        None => Set::Unreadable("1 or 0"),
    }
}

fn set_valued(config: &mut Config, name: &str, value: &str) -> Set {
    let forced = match name {
        "TEMPI_DATATYPE_DEVICE" => Some(Some(Method::Device)),
        "TEMPI_DATATYPE_ONESHOT" => Some(Some(Method::Oneshot)),
        "TEMPI_DATATYPE_STAGED" => Some(Some(Method::Staged)),
        "TEMPI_DATATYPE_AUTO" => Some(None),
        _ => None,
    };
    if let Some(method) = forced {
        return match switch(value) {
            Some(true) => {
                config.datatype = method;
                Set::Done
            }
            Some(false) => Set::Done,
            None => Set::Unreadable("1 or 0"),
        };
    }
    match name {
        "TEMPI_CUDA_AWARE" => match (value, switch(value)) {
            ("auto", _) => config.cuda_aware = None,
            (_, Some(on)) => config.cuda_aware = Some(on),
            _ => return Set::Unreadable("1, 0 or auto"),
        },
        "TEMPI_FUSION" => match (value, switch(value)) {
            ("auto", _) => config.fusion = Fusion::Auto,
            (_, Some(true)) => config.fusion = Fusion::On,
            (_, Some(false)) => config.fusion = Fusion::Off,
            _ => return Set::Unreadable("on, off or auto"),
        },
        "TEMPI_STREAM_ORDER" => match value {
            "legacy" => config.unordered_stream = false,
            "none" => config.unordered_stream = true,
            _ => return Set::Unreadable("legacy or none"),
        },
        "TEMPI_HOST" => match value {
            "auto" => config.host_always = false,
            "always" => config.host_always = true,
            _ => return Set::Unreadable("auto or always"),
        },
        "TEMPI_POOL_LIMIT" => match bytes(value) {
            Some(limit) => config.pool_limit = limit,
            None => return Set::Unreadable("bytes, with K, M or G"),
        },
        "TEMPI_LIBMPI" => config.libmpi = Some(value.to_owned()),
        "TEMPI_CACHE_DIR" => config.cache_dir = Some(value.to_owned()),
        "TEMPI_LOG" => match (value.parse(), switch(value)) {
            (_, Some(false)) => config.log = LevelFilter::OFF,
            (Ok(level), _) => config.log = level,
            _ => return Set::Unreadable("off, warn, info, debug or trace"),
        },
        "TEMPI_REPORT" => {
            config.report = match switch(value) {
                Some(true) => ReportTo::Text,
                Some(false) => ReportTo::Nowhere,
                None if value == "text" => ReportTo::Text,
                None => ReportTo::Json(value.to_owned()),
            };
        }
        "TEMPI_EXPLAIN" => {
            config.explain = match switch(value) {
                Some(true) => ExplainTo::Text,
                Some(false) => ExplainTo::Nowhere,
                None if value == "text" => ExplainTo::Text,
                None => ExplainTo::File(value.to_owned()),
            };
        }
        _ => return Set::Unknown,
    }
    Set::Done
}

/// `1`, `on`, `true`, `yes` and the empty value (TEMPI's own convention: presence) are on.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "" | "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// A number of bytes with an optional binary suffix.
fn bytes(value: &str) -> Option<usize> {
    let (digits, shift) = match value.as_bytes().last()? {
        b'k' | b'K' => (value.get(..value.len() - 1)?, 10),
        b'm' | b'M' => (value.get(..value.len() - 1)?, 20),
        b'g' | b'G' => (value.get(..value.len() - 1)?, 30),
        _ => (value, 0),
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// The known name that needs the fewest edits, if they are few.
fn nearest(name: &str) -> Option<&'static str> {
    NAMES
        .iter()
        .map(|known| (edits(name, known), *known))
        .min()
        .filter(|(n, _)| *n <= 6)
        .map(|(_, known)| known)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.bytes().zip(row.iter_mut().skip(1)) {
            let up = *cell;
            let best = (diagonal + usize::from(x != y)).min(up + 1).min(left + 1);
            diagonal = up;
            left = best;
            *cell = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> (Config, Vec<String>) {
        parse(pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())))
    }

    #[test]
    fn nothing_set_is_the_default() {
        assert_eq!(read(&[("PATH", "/bin")]), (Config::default(), vec![]));
    }

    #[test]
    fn values_are_parsed_not_only_present() {
        for off in ["0", "off", "false", "no", "OFF"] {
            assert!(!read(&[("TEMPI_DISABLE", off)]).0.disable, "{off}");
        }
        for on in ["", "1", "on", "true", "yes"] {
            assert!(read(&[("TEMPI_DISABLE", on)]).0.disable, "{on:?}");
        }
    }

    #[test]
    fn methods_and_values() {
        let (c, w) = read(&[
            ("TEMPI_DATATYPE_ONESHOT", "1"),
            ("TEMPI_CUDA_AWARE", "0"),
            ("TEMPI_STREAM_ORDER", "none"),
            ("TEMPI_FUSION", "off"),
            ("TEMPI_HOST", "always"),
            ("TEMPI_POOL_LIMIT", "64M"),
            ("TEMPI_LOG", "debug"),
            ("TEMPI_REPORT", "out-%r.json"),
            ("TEMPI_EXPLAIN", "types-%r"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
            ("PMI_RANK", "3"),
        ]);
        assert_eq!(w, Vec::<String>::new());
        assert_eq!(c.datatype, Some(Method::Oneshot));
        assert_eq!(c.cuda_aware, Some(false));
        assert!(c.unordered_stream);
        assert_eq!(c.fusion, Fusion::Off);
        assert!(c.host_always);
        assert_eq!(c.pool_limit, 64 << 20);
        assert_eq!(c.log, LevelFilter::DEBUG);
        assert_eq!(c.report, ReportTo::Json("out-%r.json".into()));
        assert_eq!(c.explain, ExplainTo::File("types-%r".into()));
        assert_eq!(read(&[("TEMPI_EXPLAIN", "1")]).0.explain, ExplainTo::Text);
        assert_eq!(c.local_ranks, Some(4));
        assert_eq!(c.rank, Some(3));
    }

    #[test]
    fn the_unknown_and_the_unreadable_are_named() {
        let (c, w) = read(&[("TEMPI_DISABEL", "1"), ("TEMPI_POOL_LIMIT", "much")]);
        assert_eq!(c, Config::default());
        assert_eq!(w[0], "TEMPI_DISABEL is no variable of this library, did you mean TEMPI_DISABLE?");
        assert_eq!(w[1], "TEMPI_POOL_LIMIT=much is not understood (bytes, with K, M or G) and ignored");
    }

    #[test]
    fn every_listed_name_is_known() {
        for name in NAMES {
            let mut c = Config::default();
            assert!(!matches!(set(&mut c, name, "1"), Set::Unknown), "{name}");
        }
    }
}
