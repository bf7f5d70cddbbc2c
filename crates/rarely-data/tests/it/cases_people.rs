//! People without options and outcomes, all of them or a sample.

use rarely_data::{DataError, TargetPeople, read_people};

use crate::support::{document, file, message};

fn read(content: &str, limit: u64, most: usize) -> (Result<TargetPeople, DataError>, tempfile::TempDir) {
    let (folder, path) = file("people.csv", content);
    (read_people(&document(), &[path], limit, most), folder)
}

#[test]
fn only_features_are_needed() {
    let (people, _folder) = read("\"age, in years\",systolic,diabetic\n60,150,yes\n120,80,no\n", 0, 10);
    let people = people.expect("people");
    assert_eq!(people.contexts, [1.0, 0.5, 1.0, 0.5, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!((people.rows, people.rejected.len(), people.rejected_count), (2, 0, 0));
}

#[test]
fn bad_rows_are_rejected_as_in_a_log() {
    let content = "\"age, in years\",systolic,diabetic\n60,150,yes\n60,15,yes\n60\n";
    let (people, folder) = read(content, 0, 10);
    assert_eq!(
        message(people, &folder),
        "people.csv, line 3, column 2 (systolic): systolic is 15, below its range 80–220 mmHg\nhelp: correct the value, or widen the range in the policy document"
    );
    let people = read(content, 2, 10).0.expect("few enough");
    assert_eq!((people.contexts.len(), people.rejected.len(), people.rejected_count), (4, 2, 2));
    let (people, folder) = read("\"age, in years\",systolic,diabetic\n", 2, 10);
    assert_eq!(message(people, &folder), "people.csv: there is no row\nhelp: add one row for every case");
}

#[test]
fn a_sample_is_uniform_and_always_the_same() {
    const ROWS: u32 = 20_000;
    const MOST: usize = 2_000;
    let rows: String = (0..ROWS).map(|row| format!("{},150,no\n", f64::from(row) / f64::from(ROWS) * 120.0)).collect();
    let content = format!("\"age, in years\",systolic,diabetic\n{rows}");
    let (people, _folder) = read(&content, 0, MOST);
    let people = people.expect("people");
    assert_eq!((people.contexts.len(), people.rows), (4 * MOST, u64::from(ROWS)));
    let ages: Vec<f64> = people.contexts.chunks_exact(4).map(|context| context[3]).collect();
    assert!(ages.is_sorted_by(|one, other| one < other), "in the order of the file, nobody twice");
    // Each tenth of the file is hypergeometric with mean 200 and standard deviation √(200·0.9·0.9) ≈ 12.7; five of them are 64.
    for tenth in 0..10 {
        let (low, high) = (f64::from(tenth) / 10.0, f64::from(tenth + 1) / 10.0);
        let count = ages.iter().filter(|&&age| low <= age && age < high).count();
        assert!((136..=264).contains(&count), "{count} of tenth {tenth}");
    }
    // Neighbours are kept independently: pairs of rows next to each other have mean 2000·0.1 = 200, standard deviation about 13.
    let pairs = ages.windows(2).filter(|pair| (pair[1] - pair[0]) * f64::from(ROWS) < 1.5).count();
    assert!((135..=265).contains(&pairs), "{pairs} pairs");
    assert_eq!(people.contexts, read(&content, 0, MOST).0.expect("people").contexts);
    // Whoever is in a smaller sample is in a larger one.
    let fewer = read(&content, 0, 10).0.expect("people");
    assert!(fewer.contexts.chunks_exact(4).all(|person| ages.contains(&person[3])));
    assert_eq!(read(&content, 0, 1_000_000).0.expect("people").contexts.len(), 4 * ROWS as usize);
}
