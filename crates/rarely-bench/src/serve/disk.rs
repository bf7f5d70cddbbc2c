//! What the disk can do: append and fdatasync, one after another.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) fn appends_a_second(folder: &Path, time: Duration) -> f64 {
    let mut file = File::create(folder.join("appended")).expect("a file");
    let (began, mut count, line) = (Instant::now(), 0_u32, [b'x'; 300]);
    while began.elapsed() < time {
        file.write_all(&line).expect("written");
        file.sync_data().expect("on disk");
        count += 1;
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}
