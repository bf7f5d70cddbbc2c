//! Shards of a workload: equal parts that together are the whole.

use rarely_core::{Algorithm, Digest, Profile};
use rarely_lab::{
    CommandRuns, CommandWords, Contestant, Experiment, RunContext, RunJournal, Shard, ShardError, ShardFile,
    ShardParseError, ShardSet, ShardSetError, WorldSource,
};
use rarely_output::OutputDirectory;
use sha2::{Digest as _, Sha256};

fn contestants(algorithms: &[Algorithm]) -> Vec<Contestant> {
    algorithms.iter().map(|&algorithm| Contestant::new(algorithm, Profile::Rigorous)).collect()
}

fn experiment(runs: u64, dimension: usize) -> Experiment {
    Experiment { rounds: Some(50), judged_on: 100, ..Experiment::new(WorldSource::linear(3, dimension), runs, 5) }
}

/// Two experiments, the second of which shares four runs with the first.
fn workload<'a>(experiments: &'a [Experiment; 2], all: &'a [Contestant; 3]) -> CommandRuns<'a> {
    let words = CommandWords { command: "test".to_owned(), arguments: vec!["--seed=5".to_owned()] };
    let part = |experiment: &'a Experiment, all: &'a [Contestant]| experiment.divisible(all).expect("a part");
    CommandRuns::new(words, vec![part(&experiments[0], &all[..2]), part(&experiments[1], &all[1..])])
}

fn parts() -> ([Experiment; 2], [Contestant; 3]) {
    let all = contestants(&[Algorithm::Rarely, Algorithm::Thompson, Algorithm::Fixed]);
    ([experiment(4, 2), experiment(7, 2)], all.try_into().expect("three"))
}

#[test]
fn every_division_is_even_and_complete() {
    let (experiments, all) = parts();
    let workload = workload(&experiments, &all);
    for count in 1..=40 {
        let runs: Vec<u64> =
            (1..=count).map(|number| workload.runs(Shard::new(number, count).expect("a shard"))).collect();
        // 4 runs of each of 2 contestants, and 7 of 2, of which 4 were in the first experiment.
        assert_eq!(runs.iter().sum::<u64>(), 8 + 14 - 4, "{count} shards");
        assert!(runs.iter().max() <= runs.iter().min().map(|least| least + 1).as_ref(), "{count} shards: {runs:?}");
    }
}

/// What the shards played is what the experiments give, and nothing is played when they are merged.
#[test]
fn merged_runs_are_those_of_the_experiments() {
    let (experiments, all) = parts();
    let folder = tempfile::tempdir().expect("a folder");
    for number in 1..=5 {
        let shard = Shard::new(number, 5).expect("a shard");
        let directory = OutputDirectory::create(&folder.path().join(shard.directory())).expect("a directory");
        let file = ShardFile::play(&directory, &workload(&experiments, &all), shard, &RunContext::quiet());
        file.expect("it runs").write(&directory).expect("it is written");
    }
    let shards = ShardSet::read(&[folder.path().to_owned()]).expect("all shards");
    let journal = shards.journal(&workload(&experiments, &all)).expect("the same experiment");
    assert_eq!(journal.found(), 18);
    for (experiment, entrants) in [(&experiments[0], &all[..2]), (&experiments[1], &all[1..])] {
        let finished = experiment.finished(entrants, &journal).expect("a number");
        assert_eq!(finished as u64, experiment.runs * entrants.len() as u64, "nothing is left to play");
        let runs = |journal: &RunJournal| -> Vec<_> {
            let context = RunContext { journal, ..RunContext::quiet() };
            experiment.run(entrants, &context).expect("it runs").into_iter().flat_map(|result| result.runs).collect()
        };
        assert_eq!(runs(&journal), runs(&RunJournal::none()));
    }

    let other = [experiment(4, 2), experiment(7, 3)];
    let shards = ShardSet::read(&[folder.path().to_owned()]).expect("all shards");
    let refused = shards.journal(&workload(&other, &all)).err();
    assert!(matches!(refused, Some(ShardSetError::Changed { .. })), "{refused:?}");
}

/// Its text, with a checksum that is right.
fn sealed(text: &str) -> String {
    let (contents, _) = text.trim_end().rsplit_once('\n').expect("lines");
    let contents = format!("{contents}\n");
    let sum = Digest(Sha256::digest(contents.as_bytes()).into());
    format!("{contents}{{\"sha256\":\"{sum}\"}}\n")
}

/// Files whose checksum is right and whose contents are not.
#[test]
fn files_that_this_version_did_not_write_are_refused() {
    let (experiments, all) = parts();
    let folder = tempfile::tempdir().expect("a folder");
    let directory = OutputDirectory::create(folder.path()).expect("a directory");
    let only = Shard::new(1, 1).expect("a shard");
    let file = ShardFile::play(&directory, &workload(&experiments, &all), only, &RunContext::quiet());
    file.expect("it runs").write(&directory).expect("it is written");
    let path = folder.path().join("shard.ndjson");
    let text = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(sealed(&text), text, "the test knows the checksum");
    let read = |text: &str| {
        std::fs::write(&path, sealed(text)).expect("a file");
        ShardSet::read(&[folder.path().to_owned()])
    };
    let older = read(&text.replace("\"version\":\"", "\"version\":\"0."));
    assert!(matches!(older, Err(ShardSetError::File(ShardError::Version { .. }))), "{older:?}");
    for (from, to) in [("\"shard\":1", "\"shard\":2"), ("\"format\":1", "\"form\":1"), ("\"run\":", "\"ran\":")] {
        let wrong = read(&text.replace(from, to));
        assert!(matches!(wrong, Err(ShardSetError::File(ShardError::Damaged { .. }))), "{to}: {wrong:?}");
    }
    // A run is there twice, and another is not.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let doubled = read(&text.replace(lines[2], lines[1])).expect("it is a shard");
    let refused = doubled.journal(&workload(&experiments, &all)).err();
    assert!(matches!(refused, Some(ShardSetError::Runs { .. })), "{refused:?}");
}

#[test]
fn a_shard_is_a_number_and_a_count() {
    assert_eq!("3/100".parse::<Shard>().map(|shard| shard.to_string()), Ok("3/100".to_owned()));
    for text in ["", "3", "3/", "/3", "-1/3", "1/2/3", "a/b", "1/99999999999"] {
        assert_eq!(text.parse::<Shard>(), Err(ShardParseError::Form { text: text.to_owned() }));
    }
    for (number, count) in [(0, 4), (5, 4), (1, 0)] {
        let expected = Err(ShardParseError::Number { number, count });
        assert_eq!(format!("{number}/{count}").parse::<Shard>(), expected);
    }
}
