//! `Notary`, keys and checkpoints: what is signed is stored, verifies with other people's rules, and a rewritten log is refused.

use rarely_store::{
    Durability, EventLog as _, NoteKey, NoteSigner, NoteVerdict, SignedCheckpoint, SigningKeyFile, Store, StoreError,
    TreeFault, verify_tree,
};

use crate::support::{Folder, filled, said, say};

/// The example of the specification of signed notes (golang.org/x/mod/sumdb/note).
#[test]
fn a_note_of_the_specification_is_read() {
    let key: NoteKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW".parse().unwrap();
    let note = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\
                — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
    assert_eq!(key.verdict(note), NoteVerdict::Signed);
    assert_eq!(key.verdict(&note.replace("answer", "Answer")), NoteVerdict::Forged);
    assert_eq!(NoteSigner::generate("PeterNeumann").key().verdict(note), NoteVerdict::NotSigned);
    assert_eq!(key.verdict("nothing"), NoteVerdict::Malformed);
    for wrong in ["", "a+b", "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"] {
        assert!(wrong.parse::<NoteKey>().is_err(), "{wrong}");
    }
}

#[test]
fn checkpoints_are_made_stored_and_found_again() {
    let folder = Folder::new();
    let (key_file, key) = (SigningKeyFile::beside(&folder.store()), {
        let mut store = Store::open(&folder.store(), Durability::Full).unwrap();
        let signer = store.signer(&SigningKeyFile::beside(&folder.store())).unwrap();
        let notary = store.sign_with(signer).unwrap();
        let writer = store.start::<(), _>(|| 1_000, |_| ()).unwrap();
        assert_eq!(notary.sign_checkpoint().unwrap(), None, "there is nothing to sign");
        for number in 1..=300 {
            say(&writer, said(&number.to_string()), ());
            if number % 100 == 0 {
                let made = notary.sign_checkpoint().unwrap().unwrap();
                assert_eq!((made.size(), made.verdict(notary.key())), (number, NoteVerdict::Signed));
                assert_eq!(made.to_string().parse::<SignedCheckpoint>().unwrap(), made);
            }
        }
        assert_eq!(notary.sign_checkpoint().unwrap(), None, "nothing is new");
        writer.stop();
        notary.key().clone()
    });
    let mut store = Store::open(&folder.store(), Durability::Full).unwrap();
    let (log, signer) = (store.log().clone(), store.signer(&key_file).unwrap());
    assert_eq!(*signer.key(), key, "the key is the one of the first start");
    let sizes: Vec<u64> = log.checkpoints(None).unwrap().iter().map(SignedCheckpoint::size).collect();
    assert_eq!(sizes, [100, 200, 300]);
    assert_eq!(log.tree_blocks().unwrap().len(), 1, "one block of 256 is stored");
    let notary = store.sign_with(signer).unwrap();
    assert_eq!((notary.size(), notary.latest().unwrap().size()), (300, 300));
    let summary = verify_tree(&*log, &[], std::slice::from_ref(&key)).unwrap();
    assert_eq!((summary.checkpoints, summary.covered, summary.by_other_keys), (3, 300, 0));
    let stranger = NoteSigner::generate(key.name());
    assert_eq!(verify_tree(&*log, &[], &[stranger.key().clone()]).unwrap().by_other_keys, 3);
}

#[test]
fn cosignatures_are_kept_if_a_known_witness_made_them() {
    let folder = Folder::new();
    filled(&folder.store(), 5);
    let mut store = Store::open(&folder.store(), Durability::Full).unwrap();
    let signer = store.signer(&SigningKeyFile::beside(&folder.store())).unwrap();
    let notary = store.sign_with(signer).unwrap();
    let made = notary.sign_checkpoint().unwrap().unwrap().to_string();
    let (witness, other) = (NoteSigner::generate("witness.example"), NoteSigner::generate("other.example"));
    let text = &made[..=made.find("\n\n").unwrap()];
    let line = |signer: &NoteSigner| signer.sign_note(text).lines().last().unwrap().to_owned() + "\n";
    let keys = [witness.key().clone()];
    assert_eq!(notary.add_cosignatures(5, &line(&other), &keys).unwrap(), 0);
    assert_eq!(notary.add_cosignatures(4, &line(&witness), &keys).unwrap(), 0, "there is no such checkpoint");
    assert_eq!(notary.add_cosignatures(5, &line(&witness), &keys).unwrap(), 1);
    assert_eq!(notary.add_cosignatures(5, &line(&witness), &keys).unwrap(), 0, "it is there already");
    assert_eq!(notary.latest().unwrap().verdict(witness.key()), NoteVerdict::Signed);
    let stored = store.log().last_checkpoint().unwrap().unwrap();
    assert_eq!(
        (stored.verdict(witness.key()), stored.verdict(notary.key())),
        (NoteVerdict::Signed, NoteVerdict::Signed)
    );
    let twice = format!("{stored}\n{stored}");
    assert_eq!(SignedCheckpoint::parse_all(&twice).unwrap(), [stored.clone(), stored]);
    assert!(SignedCheckpoint::parse_all("something").is_err());
}

#[test]
fn a_log_that_is_not_the_signed_one_does_not_open() {
    let folder = Folder::new();
    filled(&folder.store(), 20);
    let file = SigningKeyFile::beside(&folder.store());
    {
        let mut store = Store::open(&folder.store(), Durability::Full).unwrap();
        let signer = store.signer(&file).unwrap();
        store.sign_with(signer).unwrap().sign_checkpoint().unwrap().unwrap();
    }
    let open = || {
        let mut store = Store::open(&folder.store(), Durability::Full)?;
        let signer = store.signer(&file)?;
        store.sign_with(signer).map(drop)
    };
    open().unwrap();
    let database = rusqlite::Connection::open(folder.store()).unwrap();
    database.execute("UPDATE events SET hash = zeroblob(32) WHERE number = 7", []).unwrap();
    assert!(matches!(open(), Err(StoreError::Tree(TreeFault::Rewritten { size: 20, .. }))));
    database.execute("DELETE FROM events WHERE number > 18", []).unwrap();
    std::fs::remove_file(folder.file("rarely.db.head")).unwrap();
    assert!(matches!(open(), Err(StoreError::Tree(TreeFault::Cut { size: 20, log_ends: 18 }))));
    drop(database);
    Store::accept_loss(&folder.store()).unwrap();
    open().unwrap();
    std::fs::rename(file.path(), folder.file("elsewhere")).unwrap();
    open().unwrap();
    assert!(file.path().exists(), "no checkpoint is left, so a new key may sign");
}

#[test]
fn a_key_that_is_gone_of_another_log_or_public_is_refused() {
    let folder = Folder::new();
    filled(&folder.store(), 3);
    let file = SigningKeyFile::at(&folder.file("key"));
    let mut store = Store::open(&folder.store(), Durability::Full).unwrap();
    let signer = store.signer(&file).unwrap();
    store.sign_with(signer).unwrap().sign_checkpoint().unwrap().unwrap();
    let other = store.sign_with(NoteSigner::generate("another log"));
    assert!(matches!(other, Err(StoreError::OtherKey { .. })));
    assert!(file.create(&NoteSigner::generate("x")).is_err(), "a key is never overwritten");
    #[cfg(unix)]
    {
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(file.path(), Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(store.signer(&file), Err(StoreError::KeyIsPublic { .. })));
        std::fs::set_permissions(file.path(), Permissions::from_mode(0o600)).unwrap();
    }
    std::fs::write(file.path(), "no key").unwrap();
    assert!(matches!(store.signer(&file), Err(StoreError::NotAKey { .. })));
    std::fs::remove_file(file.path()).unwrap();
    assert!(matches!(store.signer(&file), Err(StoreError::KeyMissing { .. })));
}

/// A store of a version that had no tree: nothing is signed yet, and the next start signs all of it.
#[test]
fn an_older_store_gets_its_tree() {
    let folder = Folder::new();
    filled(&folder.store(), 600);
    let database = rusqlite::Connection::open(folder.store()).unwrap();
    database.execute_batch("DROP TABLE tree; DROP TABLE checkpoints;").unwrap();
    drop(database);
    {
        let log = rarely_store::SqliteLog::open_read_only(&folder.store()).unwrap();
        assert!(log.checkpoints(None).unwrap().is_empty() && log.tree_blocks().unwrap().is_empty());
        assert_eq!(verify_tree(&log, &[], &[]).unwrap().size, 600);
    }
    let mut store = Store::open(&folder.store(), Durability::Full).unwrap();
    let signer = store.signer(&SigningKeyFile::beside(&folder.store())).unwrap();
    let notary = store.sign_with(signer).unwrap();
    assert_eq!(notary.sign_checkpoint().unwrap().unwrap().size(), 600);
    assert_eq!(store.log().tree_blocks().unwrap().len(), 2);
    verify_tree(&**store.log(), &[], &[notary.key().clone()]).unwrap();
}

#[test]
fn a_witness_is_read_without_writing() {
    let folder = Folder::new();
    assert!(rarely_store::HeadWitness::open_read_only(&folder.store()).unwrap().is_none());
    assert!(!rarely_store::HeadWitness::path(&folder.store()).exists());
    filled(&folder.store(), 3);
    let witness = rarely_store::HeadWitness::open_read_only(&folder.store()).unwrap().unwrap();
    assert_eq!(witness.seen().unwrap().number, 3);
}
