//! `LogWriter`: failing disks, group commit, and lookups of keys.

mod failure;
mod group_commit;
mod lookup;
