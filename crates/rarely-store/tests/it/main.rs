//! What the store promises, held against threads, failing disks, cut files and flipped bytes.

mod backup;
mod chain;
mod damage;
mod failure;
mod group_commit;
mod mark;
mod open;
mod snapshot;
mod support;
mod witness;
