//! The formats in which a trace is a single file, and their readers.
//!
//! Formats that are a directory with a file for each process, [`binary`](crate::format::binary) and
//! [`msgpack`](crate::format::msgpack), are not among them.

use crate::format::error::FormatError;
use crate::format::own::is_skipped;
use crate::format::reader::TraceReader;
use crate::format::{jepsen, jsonl, otlp, porcupine, text};
use crate::{Halt, Trace, name};

/// A format in which a trace is a single file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per operation: [`jsonl`].
    JsonLines,
    /// Operations as they print: [`text`].
    Text,
    /// Jepsen's histories in EDN or JSON: [`jepsen`].
    Jepsen,
    /// Porcupine's logs of a key-value store: [`porcupine::read_kv`].
    PorcupineKv,
    /// Porcupine's logs of etcd: [`porcupine::read_etcd`].
    PorcupineEtcd,
    /// Spans of OpenTelemetry in the JSON of OTLP or Tempo: [`otlp::read`].
    Otlp,
    /// Spans in the JSON of Jaeger's user interface: [`otlp::read_jaeger`].
    Jaeger,
}

struct Row {
    format: Format,
    /// The name on the command line.
    name: &'static str,
    reader: &'static dyn TraceReader,
}

/// All readers, in the order in which they are tried: one that accepts more comes later.
const READERS: &[Row] = &[
    Row { format: Format::PorcupineEtcd, name: "porcupine-etcd", reader: &porcupine::Etcd },
    Row { format: Format::PorcupineKv, name: "porcupine-kv", reader: &porcupine::KeyValue },
    Row { format: Format::Otlp, name: "otlp", reader: &otlp::Otlp },
    Row { format: Format::Jaeger, name: "jaeger", reader: &otlp::Jaeger },
    Row { format: Format::JsonLines, name: "jsonl", reader: &jsonl::JsonLines },
    Row { format: Format::Text, name: "text", reader: &text::Text },
    Row { format: Format::Jepsen, name: "jepsen", reader: &jepsen::Jepsen },
];

impl Format {
    /// The format of a file that begins with these bytes; a few hundred are enough.
    pub fn detect(first_bytes: &[u8]) -> Option<Format> {
        READERS.iter().find(|row| row.reader.detect(first_bytes)).map(|row| row.format)
    }

    /// All formats, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Format> {
        READERS.iter().map(|row| row.format)
    }

    /// The name of the format on the command line.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of this name.
    pub fn by_name(name: &str) -> Option<Format> {
        READERS.iter().find(|row| row.name == name).map(|row| row.format)
    }

    /// Reads a whole file in this format.
    pub fn read(self, bytes: &[u8]) -> Result<Trace, FormatError> {
        self.read_until(bytes, &Halt::default())
    }

    /// Reads a trace, stopping when `halt` is raised.
    pub fn read_until(self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        self.row().reader.read(bytes, halt)
    }

    /// The line of a file in this format that holds the operation of this name, where operations are lines.
    pub fn line_of(self, bytes: &[u8], op: &str) -> Option<usize> {
        if !matches!(self, Format::JsonLines | Format::Text) {
            return None;
        }
        let Trace { processes, records, .. } = self.read(bytes).ok()?;
        let order = |place: &usize| {
            (records[*place].process, records[*place].start, records[*place].end.at().unwrap_or(u64::MAX))
        };
        let mut places: Vec<usize> = (0..records.len()).collect();
        places.sort_by_key(order);
        let mut last = None; // The process of the operation before, and how many it has called by then.
        let place = places.into_iter().find(|&place| {
            let process = records[place].process;
            let index = last.filter(|(before, _)| *before == process).map_or(0, |(_, count)| count);
            last = Some((process, index + 1));
            name(&processes, process, index) == op
        })?;
        let has_operation =
            |line: &[u8]| !is_skipped(line) && (self != Format::JsonLines || jsonl::is_operation_line(line));
        let lines = bytes.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| has_operation(line.trim_ascii()));
        lines.map(|(_, number)| number).nth(place)
    }

    fn row(self) -> &'static Row {
        READERS.iter().find(|row| row.format == self).expect("each format has a row")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected_by_their_first_line() {
        let check = |bytes: &[u8]| Format::detect(bytes).map(Format::name);
        assert_eq!(check(b"// a map\n{\"process\": 0, \"action\": \"put\", \"sta"), Some("jsonl"));
        assert_eq!(check(b"\n{\"process\": 0, \"type\": \"invoke\", \"f\": \"read\"}"), Some("jepsen"));
        assert_eq!(check(b"#jepsen.history.Op{:index 0, :type :invoke"), Some("jepsen"));
        assert_eq!(check(b"[{:f :read\n :type :invoke"), Some("jepsen"));
        assert_eq!(check(b"; by hand\n ; twice\n({:type :invoke"), Some("jepsen"));
        assert_eq!(check(b"{:process 0, :type :invoke, :f :get, :key \"7\", :value nil}"), Some("porcupine-kv"));
        assert_eq!(check(b"INFO  jepsen.util - 0\t:invoke\t:read\tnil"), Some("porcupine-etcd"));
        assert_eq!(check(b"{\"event\": \"Start\", \"start\": 1}"), Some("jsonl"));
        assert_eq!(check(b"# by hand\nT0 [1 4] write(1)"), Some("text"));
        assert_eq!(check(b"\"a b\" [1 ...] wr"), Some("text"));
        assert_eq!(check(b"\n{\"resourceSpans\": [{\"resource\": {"), Some("otlp"));
        assert_eq!(check(b"{\"batches\":[]}"), Some("otlp"));
        assert_eq!(check(b"{ \"trace\": {\n\"batches\": ["), Some("otlp"));
        assert_eq!(check(b"{\"result\":{\"resourceSpans\":[{"), Some("otlp"));
        assert_eq!(check(b"{\"data\":[{\"traceID\":\"00\",\"spans\":[{\"action\""), Some("jaeger"));
        assert_eq!(check(b"{\"data\": 5, \"action\": \"f\"}"), Some("jsonl"));
        assert_eq!(check(b"{\"trace\": 5}"), None);
        assert_eq!(check(b"[1 4] write(1)"), None);
        assert_eq!(check(b"\x89OMNISEG\x01\x00"), None);
        assert_eq!(check(b""), None);
    }

    #[test]
    fn operations_are_found_in_their_lines() {
        let text = b"# by hand\nT0 [3 4] f()\n\nw [1 2] f()\nT0 [1 2] f()\nT0 [1 ...] f()";
        let line = |op| Format::Text.line_of(text, op);
        assert_eq!(["T0:0", "T0:1", "T0:2", "w:0", "w:1"].map(line), [Some(5), Some(6), Some(2), Some(4), None]);
        let json =
            b"{\"process\": 0, \"action\": \"a\", \"start\": 2}\n{\"process\": 0, \"action\": \"a\", \"start\": 1}\n";
        assert_eq!(Format::JsonLines.line_of(json, "T0:0"), Some(2));
    }

    #[test]
    fn each_format_has_one_row() {
        for format in Format::all() {
            assert_eq!(Format::by_name(format.name()), Some(format));
            assert_eq!(READERS.iter().filter(|row| row.format == format).count(), 1);
            assert_eq!(format.read(b""), Ok(Trace::default()));
        }
    }
}
