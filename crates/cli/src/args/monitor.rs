//! The command line of `omnilink monitor`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};

use super::shared::MEMORY;

/// The headings of the options.
mod heading {
    pub(super) const SOURCE: &str = "Source";
    pub(super) const TIME: &str = "Time and loss";
    pub(super) const MEMORY: &str = "Memory";
    pub(super) const ALERTS: &str = "Alerts";
    pub(super) const SERVING: &str = "Serving";
    pub(super) const NATS: &str = "NATS";
    pub(super) const KAFKA: &str = "Kafka";
}

#[derive(Debug, Args)]
pub(crate) struct MonitorArgs {
    /// Where operations come from: `-` for JSON Lines on standard input, a file of JSON Lines or a directory to which
    /// recorders write, a stream of NATS JetStream such as `nats://127.0.0.1:4222/STREAM`, or a topic of Kafka such as
    /// `kafka://127.0.0.1:9092/TOPIC`.
    #[arg(value_name = "SOURCE", default_value = "-")]
    pub(crate) source: PathBuf,

    /// Specification: a built-in one with its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC", help_heading = heading::SOURCE)]
    pub(crate) spec: String,

    /// Receive spans of OpenTelemetry here instead, by OTLP over HTTP, such as `127.0.0.1:4318`.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "source", help_heading = heading::SOURCE)]
    pub(crate) otlp: Option<SocketAddr>,

    /// Receive spans of OpenTelemetry here instead, by OTLP over gRPC, such as `127.0.0.1:4317`.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "source", help_heading = heading::SOURCE)]
    pub(crate) otlp_grpc: Option<SocketAddr>,

    /// Argument that is the key: each key is an object of its own.
    #[arg(long, value_name = "NAME", default_value = "key", help_heading = heading::SOURCE)]
    pub(crate) key: String,

    /// All operations are of one object.
    #[arg(long, conflicts_with = "key", help_heading = heading::SOURCE)]
    pub(crate) one_object: bool,

    /// Unit of the times of operations.
    #[arg(long, value_name = "UNIT", default_value = "ns", help_heading = heading::TIME)]
    pub(crate) clock: Unit,

    /// Stay this far behind what the processes have reached, for operations of processes that are not known yet.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "1s",
        help_heading = heading::TIME
    )]
    pub(crate) lateness: Duration,

    /// Take operations into account that come this late; then alerts are final.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::TIME
    )]
    pub(crate) retention: Duration,

    /// Do not wait for a process of which nothing came for this long.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::TIME
    )]
    pub(crate) idle: Duration,

    /// Take a numbered operation for lost if it has not come this long after a later one of its process.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "5s",
        help_heading = heading::TIME
    )]
    pub(crate) patience: Duration,

    /// An operation of unknown outcome takes effect within this time after its start, or never. Without this, its key is
    /// not quiet again.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = heading::TIME)]
    pub(crate) unknown_for: Option<Duration>,

    /// A process may start an operation before its last one has ended. Its operations are numbered by their starts, and
    /// after a loss nothing is decided any more.
    #[arg(long, help_heading = heading::TIME)]
    pub(crate) overlap: bool,

    /// The system was running before: the state of a key is unknown until an operation settles it.
    #[arg(long, help_heading = heading::TIME)]
    pub(crate) join: bool,

    /// Keep at most this many keys.
    #[arg(long, value_name = "COUNT", default_value_t = 1 << 20, help_heading = heading::MEMORY)]
    pub(crate) max_keys: usize,

    /// Keep at most this many operations of a key that has no quiet instant, or, with a specification whose states cannot be
    /// carried from one check to the next, of any key.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, help_heading = heading::MEMORY)]
    pub(crate) max_ops: usize,

    /// Give up the check of a key after this time: the key is undecided then.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::TIME
    )]
    pub(crate) timeout: Duration,

    /// Give up the check of a key if the monitor uses more memory than this, such as `64M` or `2G`.
    #[arg(long, value_name = "SIZE", default_value = MEMORY, help_heading = heading::MEMORY)]
    pub(crate) max_memory: ByteSize,

    /// Check this often.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "100ms",
        help_heading = heading::TIME
    )]
    pub(crate) every: Duration,

    /// Store the state in this file, and continue from it. With a topic of Kafka, this is a directory: the monitors
    /// that share the topic share it, too.
    #[arg(long, value_name = "FILE", help_heading = heading::MEMORY)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Standard input begins where the stored state ends, instead of being sent again: after as many lines as the first line
    /// of the file says, `"position": {"lines": COUNT}`.
    #[arg(long, requires = "checkpoint", help_heading = heading::SOURCE)]
    pub(crate) input_continues: bool,

    /// Store the state this often.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::MEMORY
    )]
    pub(crate) checkpoint_every: Duration,

    /// Append alerts to this file, one JSON object per line [default: standard output].
    #[arg(long, value_name = "FILE", help_heading = heading::ALERTS)]
    pub(crate) alerts: Option<PathBuf>,

    /// Note what was found in each interval in this directory, for `omnilink runs summary --store DIR`.
    #[arg(long, value_name = "DIR", help_heading = heading::ALERTS)]
    pub(crate) ledger: Option<PathBuf>,

    /// Length of these intervals.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "1h",
        help_heading = heading::ALERTS
    )]
    pub(crate) ledger_every: Duration,

    /// Write a page for the first violations of each cause into this directory.
    #[arg(long, value_name = "DIR", help_heading = heading::ALERTS)]
    pub(crate) pages: Option<PathBuf>,

    /// Serve `/metrics`, `/health` and an overview here, such as `127.0.0.1:9464`.
    #[arg(long, value_name = "ADDRESS", help_heading = heading::SERVING)]
    pub(crate) listen: Option<SocketAddr>,

    /// Let `--listen`, `--otlp` and `--otlp-grpc` name addresses that other machines reach.
    #[arg(long, help_heading = heading::SERVING)]
    pub(crate) remote: bool,

    /// Answer only requests to these addresses that send the token in this file, as `Authorization: Bearer TOKEN`.
    #[arg(long, value_name = "FILE", help_heading = heading::SERVING)]
    pub(crate) token_file: Option<PathBuf>,

    /// Answer only requests with TLS, with the certificate in this file.
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = heading::SERVING)]
    pub(crate) tls_certificate: Option<PathBuf>,

    /// Key of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = heading::SERVING)]
    pub(crate) tls_key: Option<PathBuf>,

    /// The input, standard input or a file, ends when all operations have come: processes that have not said that they are over are over too.
    #[arg(long, help_heading = heading::SOURCE)]
    pub(crate) complete: bool,

    /// Number of partitions of a stream of NATS: the subjects that end in `.0`, `.1` and so on. Not for Kafka: a topic
    /// has its own number.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1024),
        help_heading = heading::NATS
    )]
    pub(crate) partitions: u32,

    /// Share the partitions of a stream of NATS with other monitors of this group. Their states are in a key-value
    /// store of this name.
    #[arg(long, value_name = "NAME", default_value = "omnilink", help_heading = heading::NATS)]
    pub(crate) group: String,

    /// Take over the partitions of a monitor of the group of which nothing was heard for this long.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = heading::NATS
    )]
    pub(crate) lease: Duration,

    /// File with credentials for NATS.
    #[arg(long, value_name = "FILE", help_heading = heading::NATS)]
    pub(crate) credentials: Option<PathBuf>,

    /// File with further properties for Kafka, such as passwords: lines `name=value`, with the names of librdkafka.
    #[arg(long, value_name = "FILE", help_heading = heading::KAFKA)]
    pub(crate) kafka_properties: Option<PathBuf>,
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
