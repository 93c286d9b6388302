//! The command line of `omnilink monitor`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use omnilink_isolation::Level;

use super::check::parse_isolation;
use super::shared::{MEMORY, Order};

/// The headings of the options.
mod heading {
    pub(super) const SOURCE: &str = "Source";
    pub(super) const TIME: &str = "Time and loss";
    pub(super) const MEMORY: &str = "Memory";
    pub(super) const ALERTS: &str = "Alerts";
    pub(super) const SERVING: &str = "Serving";
    pub(super) const NATS: &str = "NATS";
}

#[derive(Debug, Args)]
pub(crate) struct MonitorArgs {
    /// Source of operations: `-` for standard input, a file, a directory, or a `nats://` address.
    ///
    /// Standard input and a file have JSON Lines; recorders write to a directory. `nats://127.0.0.1:4222/STREAM` is a
    /// stream of NATS JetStream.
    #[arg(value_name = "SOURCE", default_value = "-")]
    pub(crate) source: PathBuf,

    /// Specification: a built-in one with its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC", required_unless_present = "isolation", help_heading = heading::SOURCE)]
    pub(crate) spec: Option<String>,

    /// Check the isolation of transactions at this level by the stamps of the database: `prefix`, `snapshot` or `serializable`.
    ///
    /// The lines are those of `omnilink check --isolation LEVEL --stamps`, with timestamps. Stamps have no unit, so `--lateness` and
    /// `--retention` are times of the monitor's clock, and `--max-ops` is the maximum number of elements of a list.
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = parse_isolation,
        conflicts_with_all = [
            "spec", "key", "one_object", "otlp", "otlp_grpc", "clock", "unknown_for", "overlap", "pages", "timeout",
        ],
        help_heading = heading::SOURCE
    )]
    pub(crate) isolation: Option<Level>,

    /// Order of transactions instead of that of the level: `none` or `session`.
    #[arg(long, value_name = "ORDER", requires = "isolation", help_heading = heading::SOURCE)]
    pub(crate) order: Option<Order>,

    /// Receive OpenTelemetry spans over HTTP at this address, such as `127.0.0.1:4318`.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "source", help_heading = heading::SOURCE)]
    pub(crate) otlp: Option<SocketAddr>,

    /// Receive OpenTelemetry spans over gRPC at this address, such as `127.0.0.1:4317`.
    #[arg(
        long,
        value_name = "ADDRESS",
        conflicts_with = "source",
        help_heading = heading::SOURCE,
        hide_short_help = true
    )]
    pub(crate) otlp_grpc: Option<SocketAddr>,

    /// Name of the argument that is the key: each key is a separate object.
    #[arg(long, value_name = "NAME", default_value = "key", help_heading = heading::SOURCE)]
    pub(crate) key: String,

    /// Treat all operations as operations of one object.
    #[arg(long, conflicts_with = "key", help_heading = heading::SOURCE)]
    pub(crate) one_object: bool,

    /// Unit of the times of operations.
    #[arg(long, value_name = "UNIT", default_value = "ns", help_heading = heading::TIME)]
    pub(crate) clock: Unit,

    /// Stay this far behind the processes, to wait for operations of new processes.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "1s",
        help_heading = heading::TIME
    )]
    pub(crate) lateness: Duration,

    /// Accept operations that arrive at most this late; alerts are final after that.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::TIME,
        hide_short_help = true
    )]
    pub(crate) retention: Duration,

    /// Stop waiting for a process that has been silent for this long.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::TIME
    )]
    pub(crate) idle: Duration,

    /// Count a numbered operation as lost if it has not arrived this long after a later one of its process.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "5s",
        help_heading = heading::TIME,
        hide_short_help = true
    )]
    pub(crate) patience: Duration,

    /// Assume that an operation of unknown outcome takes effect within this time after its start, or never.
    ///
    /// Without this option, the key of such an operation never becomes quiet again.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = heading::TIME)]
    pub(crate) unknown_for: Option<Duration>,

    /// Allow a process to start an operation before its last one has ended.
    ///
    /// Number the operations of a process by their starts. After a loss, the monitor reaches no further verdicts.
    #[arg(long, help_heading = heading::TIME)]
    pub(crate) overlap: bool,

    /// Join a running system: the state of a key is unknown until an operation settles it.
    #[arg(long, help_heading = heading::TIME)]
    pub(crate) join: bool,

    /// Maximum number of keys to keep.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1 << 20,
        help_heading = heading::MEMORY,
        hide_short_help = true
    )]
    pub(crate) max_keys: usize,

    /// Maximum number of operations to keep of a key that has no quiet instant.
    ///
    /// The limit holds for every key if the states of the specification cannot be carried from one check to the next.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 10_000,
        help_heading = heading::MEMORY,
        hide_short_help = true
    )]
    pub(crate) max_ops: usize,

    /// Maximum time to check a key: undecided after that.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::TIME,
        hide_short_help = true
    )]
    pub(crate) timeout: Duration,

    /// Maximum memory of the monitor, such as `64M` or `2G`: the key being checked is undecided after that.
    #[arg(long, value_name = "SIZE", default_value = MEMORY, help_heading = heading::MEMORY, hide_short_help = true)]
    pub(crate) max_memory: ByteSize,

    /// Time between two checks.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "100ms",
        help_heading = heading::TIME,
        hide_short_help = true
    )]
    pub(crate) every: Duration,

    /// Store the state in this file, and continue from it.
    #[arg(long, value_name = "FILE", help_heading = heading::MEMORY)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Expect standard input to begin where the stored state ends, not at its first line.
    ///
    /// The first line of the stored state says how many lines to skip: `"position": {"lines": COUNT}`.
    #[arg(long, requires = "checkpoint", help_heading = heading::SOURCE, hide_short_help = true)]
    pub(crate) input_continues: bool,

    /// Time between two stored states.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::MEMORY,
        hide_short_help = true
    )]
    pub(crate) checkpoint_every: Duration,

    /// Append alerts to this file, one JSON object per line [default: standard output].
    #[arg(long, value_name = "FILE", help_heading = heading::ALERTS)]
    pub(crate) alerts: Option<PathBuf>,

    /// Write the findings of each interval to this directory, for `omnilink runs summary --store DIR`.
    #[arg(long, value_name = "DIR", help_heading = heading::ALERTS, hide_short_help = true)]
    pub(crate) ledger: Option<PathBuf>,

    /// Length of the intervals of `--ledger`.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "1h",
        help_heading = heading::ALERTS,
        hide_short_help = true
    )]
    pub(crate) ledger_every: Duration,

    /// Write a page for the first violations of each cause into this directory.
    #[arg(long, value_name = "DIR", help_heading = heading::ALERTS)]
    pub(crate) pages: Option<PathBuf>,

    /// Serve `/metrics`, `/health` and an overview at this address, such as `127.0.0.1:9464`.
    #[arg(long, value_name = "ADDRESS", help_heading = heading::SERVING)]
    pub(crate) listen: Option<SocketAddr>,

    /// Allow addresses of `--listen`, `--otlp` and `--otlp-grpc` that other machines can reach.
    #[arg(long, help_heading = heading::SERVING)]
    pub(crate) remote: bool,

    /// Require the token in this file from requests to these addresses, as `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE", help_heading = heading::SERVING, hide_short_help = true)]
    pub(crate) token_file: Option<PathBuf>,

    /// Require TLS, with the certificate in this file.
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = heading::SERVING, hide_short_help = true)]
    pub(crate) tls_certificate: Option<PathBuf>,

    /// File with the key of the certificate.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_certificate",
        help_heading = heading::SERVING,
        hide_short_help = true
    )]
    pub(crate) tls_key: Option<PathBuf>,

    /// Expect all operations by the end of standard input or the file, and treat all processes as ended there.
    #[arg(long, help_heading = heading::SOURCE)]
    pub(crate) complete: bool,

    /// Number of partitions of a NATS stream: the subjects that end in `.0`, `.1` and so on.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1024),
        help_heading = heading::NATS
    )]
    pub(crate) partitions: u32,

    /// Share the partitions of a NATS stream with the other monitors of this group.
    ///
    /// Their states are in a key-value store of this name.
    #[arg(long, value_name = "NAME", default_value = "omnilink", help_heading = heading::NATS)]
    pub(crate) group: String,

    /// Take over the partitions of a monitor of the group that has been silent for this long.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::NATS,
        hide_short_help = true
    )]
    pub(crate) lease: Duration,

    /// File with NATS credentials.
    #[arg(long, value_name = "FILE", help_heading = heading::NATS)]
    pub(crate) credentials: Option<PathBuf>,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    Ns,
    Us,
    Ms,
}

impl Unit {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Us => "us",
            Unit::Ms => "ms",
        }
    }

    /// A count of this unit, to milliseconds if it is not shorter.
    pub(crate) fn duration(self, count: u64) -> Duration {
        let duration = match self {
            Unit::Ns => Duration::from_nanos(count),
            Unit::Us => Duration::from_micros(count),
            Unit::Ms => Duration::from_millis(count),
        };
        let millis = Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        if millis.is_zero() { duration } else { millis }
    }

    /// A duration in this unit.
    pub(crate) fn of(self, duration: Duration) -> u64 {
        let count = match self {
            Unit::Ns => duration.as_nanos(),
            Unit::Us => duration.as_micros(),
            Unit::Ms => duration.as_millis(),
        };
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}
