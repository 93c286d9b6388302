//! Work that is done once: reading a recording, and linking a specification.

#![allow(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs;
use std::path::{Path, PathBuf};

use omnilink_history::format::binary::{self, Manifest};
use omnilink_history::format::text;
use omnilink_judge::{Case, CheckOptions, Judge, Recording, ShowOptions, Unlimited};

const SPEC: &str = r"---- MODULE Queue ----
EXTENDS Sequences, Integers
VARIABLE queue
Init == queue = <<>>
Enqueue(elem) == queue' = Append(queue, elem)
Dequeue(elem) == queue # <<>> /\ elem = Head(queue) /\ queue' = Tail(queue)
Next == \E elem \in 1..9 : Enqueue(elem) \/ Dequeue(elem)
====
";

const ACCEPTED: &str = "T0 [1 2] Enqueue(elem: 1)\nT0 [3 5] Enqueue(elem: 2)\nT1 [4 6] Dequeue() = elem: 1\n";
const REJECTED: &str = "T0 [1 2] Enqueue(elem: 1)\nT0 [3 5] Enqueue(elem: 2)\nT1 [7 9] Dequeue() = elem: 2\n";

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("once").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("Queue.tla"), SPEC).unwrap();
    directory
}

/// The same operations as text and as a binary trace, and how many bytes each has.
fn recordings(directory: &Path, trace: &str) -> [(PathBuf, u64); 2] {
    let (file, segments) = (directory.join("run.txt"), directory.join("trace"));
    fs::write(&file, trace).unwrap();
    fs::create_dir_all(&segments).unwrap();
    let (trace, manifest) = (text::read(trace.as_bytes()).unwrap(), Manifest::default().write());
    fs::write(segments.join("manifest.json"), &manifest).unwrap();
    binary::write(&trace, |process, _| fs::File::create(segments.join(format!("{}.seg", process.0)))).unwrap();
    let sizes = fs::read_dir(&segments).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    let size = fs::metadata(&file).unwrap().len();
    [(file, size), (segments.clone(), sizes.sum())]
}

#[test]
fn every_look_at_a_recording_reads_it_once() {
    for (name, trace) in [("accepted", ACCEPTED), ("rejected", REJECTED)] {
        let directory = directory(name);
        for spec in [directory.join("Queue.tla").display().to_string(), "queue".to_owned()] {
            let trace = match &*spec {
                "queue" => trace.replace("elem: ", "").replace("Enqueue", "enqueue").replace("Dequeue", "dequeue"),
                _ => trace.to_owned(),
            };
            for (path, size) in recordings(&directory, &trace) {
                let judge = Judge::new(&spec, CheckOptions { coverage: true, ..CheckOptions::default() }).unwrap();
                let recording = Recording::at(&path, None);
                let case = &mut Case { recording: &recording, label: "t", witness: None, limits: &Unlimited };
                assert_eq!(
                    matches!(judge.report(case).unwrap().verdict, omnilink_report::Verdict::Accepted),
                    name == "accepted"
                );
                assert_eq!(recording.bytes_read(), size, "{spec}: {}", path.display());
                let mut order = Vec::new();
                let case = &mut Case { witness: Some(&mut order), ..case_of(&recording) };
                let mut shown = judge.show(case, &ShowOptions::default()).unwrap();
                judge.walk(&case_of(&recording), &mut shown, &ShowOptions::default()).unwrap();
                judge.operations(&recording).unwrap();
                assert_eq!(order.is_empty(), name != "accepted");
                assert_eq!(recording.bytes_read(), size, "{spec}: {}", path.display());
            }
        }
    }
}

fn case_of(recording: &Recording) -> Case<'_> {
    Case { recording, label: "t", witness: None, limits: &Unlimited }
}

#[test]
fn operations_at_hand_need_no_file() {
    let history = omnilink_history::History::new(text::read(ACCEPTED.as_bytes()).unwrap()).unwrap();
    let spec = directory("at-hand").join("Queue.tla").display().to_string();
    let judge = Judge::new(&spec, CheckOptions::default()).unwrap();
    // A judge is shared by threads.
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let recording = Recording::of(history.clone());
                let report = judge.report(&mut case_of(&recording)).unwrap();
                assert_eq!(report.verdict, omnilink_report::Verdict::Accepted);
                assert_eq!(recording.bytes_read(), 0);
            });
        }
    });
}

/// The same verdicts and explanations, whether a recording is kept in memory or streamed from its files.
#[test]
fn large_recordings_are_streamed() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let scratch = directory("streamed");
    let (mut streamed, mut rejected) = (0, 0);
    for (example, module) in [("map", "Map"), ("producer-queue", "ProducerQueue"), ("two-phase", "TwoPhase")] {
        let spec = examples.join(example).join(module).with_extension("tla").display().to_string();
        for entry in fs::read_dir(examples.join(example).join("traces")).unwrap() {
            let path = entry.unwrap().path();
            let trace = omnilink_history::format::jsonl::read(&fs::read(&path).unwrap()).unwrap();
            let name = format!("{example}-{}", path.file_stem().unwrap().to_string_lossy());
            let segments = scratch.join(name);
            fs::create_dir_all(&segments).unwrap();
            fs::write(segments.join("manifest.json"), Manifest::default().write()).unwrap();
            binary::write(&trace, |process, _| fs::File::create(segments.join(format!("{:04}.seg", process.0))))
                .unwrap();
            let report = |max_memory| {
                let judge = Judge::new(&spec, CheckOptions { max_memory, ..CheckOptions::default() }).unwrap();
                judge.report(&mut case_of(&Recording::at(&segments, None))).unwrap()
            };
            // A recording that takes more than a quarter of the memory is not kept.
            let (kept, large) = (report(1 << 30), report(400));
            assert_eq!(kept.verdict, large.verdict, "{}", path.display());
            assert_eq!(kept.history, large.history, "{}", path.display());
            assert_eq!(kept.stats.method, "searched whole");
            streamed += usize::from(large.stats.method == "searched as a stream");
            rejected += usize::from(kept.verdict.word() == "rejected");
        }
    }
    assert!(streamed > 3 && rejected > 3, "{streamed} streamed, {rejected} rejected");
}
