//! Targets that write files.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Unpacks a run that was received. It is compressed here, because hardly any bytes are well compressed by chance.
pub(crate) fn bundle(archive: &[u8]) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (file, inside) = (directory.path().join("run.omni"), directory.path().join("inside"));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(archive).expect("memory can be written to");
    fs::write(&file, packed.finish().expect("memory can be written to")).expect("a file can be written");
    let _ = omnilink_explore::unpack(&file, &inside);
    // Nothing but the file and what came out of it, wherever its entries lead.
    let entries = fs::read_dir(directory.path()).expect("the directory is there");
    assert!(entries.count() <= 2);
}
