//! The log: a minimal `tracing` subscriber that writes lines to standard error.
//!
//! Nothing is formatted unless `TEMPI_LOG` asks for the level; there are no spans.
#![forbid(unsafe_code)]

use std::fmt::{self, Write as _};
use std::io::Write as _;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber, span};

/// Start logging at `level`. Later calls change nothing.
pub(crate) fn start(level: LevelFilter) {
    if level != LevelFilter::OFF {
        // A second call finds the first subscriber in place, which is what is wanted.
        let _ = tracing::subscriber::set_global_default(Lines { level });
    }
}

struct Lines {
    level: LevelFilter,
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::with_capacity(120));
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let _ = write!(line.0, "tempi {} {level}:", std::process::id());
        event.record(&mut line);
        line.0.push('\n');
        // One write a line keeps the ranks' lines whole; a closed stderr is no reason to fail.
        let _ = std::io::stderr().write_all(line.0.as_bytes());
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Collects `message key value key value …`.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name} {value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = match field.name() {
            "message" => write!(self.0, " {value}"),
            name => write!(self.0, " {name} {value}"),
        };
    }
}
