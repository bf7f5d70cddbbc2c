//! Tables with a header: what is accepted, and what each mistake is called.

mod laws;

use rarely_data::table;

use crate::support::{file, message};

fn check(content: impl AsRef<[u8]>, expected: &str) {
    let (folder, path) = file("people.csv", content);
    assert_eq!(message(table::read(&path), &folder), expected);
}

#[test]
fn columns_may_stand_in_any_order() {
    let (_folder, path) = file(
        "people.csv",
        "\u{feff}outcome:letter, age ,mean:call,\"income, thousands\",outcome:call,mean:letter\r\n1,41,0.5,2.3,2,1.5\r\n\r\n-3,\" 17 \",0.25,1e1,+4,2.5",
    );
    let people = table::read(&path).expect("a table");
    people.validate().expect("valid");
    assert_eq!(people.label, "people.csv");
    assert_eq!(people.columns, ["age", "income, thousands"]);
    assert_eq!((people.people(), people.arms), (2, 2));
    assert_eq!(people.contexts, [41.0, 2.3, 17.0, 10.0]);
    assert_eq!(people.outcomes, [1.0, 2.0, -3.0, 4.0]);
    assert_eq!(people.means, [1.5, 0.5, 2.5, 0.25]);
}

#[test]
fn without_means_the_outcomes_stand_in() {
    let (_folder, path) = file("people.csv", "age,outcome:a,outcome:b,outcome:c\n1,2,3,4\n");
    let people = table::read(&path).expect("a table");
    assert_eq!((people.arms, people.means), (3, vec![2.0, 3.0, 4.0]));
}

#[test]
fn bad_headers_are_errors() {
    let ending =
        "\nhelp: write the names of the columns into the first line, with outcome:<arm> for the outcome of each arm";
    check("", &format!("people.csv, line 1: no header: found an empty file{ending}"));
    check("\n\n", &format!("people.csv, line 1: no header: found an empty file{ending}"));
    check("1,2.5,3\n4,5,6\n", &format!("people.csv, line 1: no header: found \"1,2.5,3\"{ending}"));
    let ending = "named outcome:<arm>, but the outcome of every arm must be known, for two arms or more\nhelp: add or rename columns";
    check("age,reward\n1,2\n", &format!("people.csv, line 1: no column is {ending}"));
    check("age,outcome:a\n1,2\n", &format!("people.csv, line 1: only one column (outcome:a) is {ending}"));
    check("age;outcome:a;outcome:b\n1;2;3\n", &format!("people.csv, line 1: no column is {ending}"));
    check(
        "age,outcome:a,outcome:b,mean:a,mean:c\n1,2,3,4,5\n",
        "people.csv, line 1, column 5 (mean:c): there is no outcome of this arm, only of a, b\nhelp: correct the name of the arm, or add its outcome",
    );
    check(
        "age,outcome:a,outcome:b,mean:a\n1,2,3,4\n",
        "people.csv, line 1: column mean:b is missing, although other arms have a mean\nhelp: give the mean of every arm, or of none",
    );
    for (header, name, first, second) in [
        ("age,outcome:a,outcome:b, age", "age", 1, 4),
        ("age,outcome:a,outcome:a", "outcome:a", 2, 3),
        ("mean:a,mean:a,age,outcome:a,outcome:b", "mean:a", 1, 2),
    ] {
        check(
            header,
            &format!(
                "people.csv, line 1: columns {first} and {second} are both named \"{name}\"\nhelp: rename or remove one of the columns"
            ),
        );
    }
    let ending = "which is incomplete\nhelp: give every context variable a name, and every outcome: or mean: an arm";
    check("age,,outcome:a,outcome:b\n", &format!("people.csv, line 1, column 2: found the column name \"\", {ending}"));
    check(
        "age,outcome:,outcome:b\n",
        &format!("people.csv, line 1, column 2: found the column name \"outcome:\", {ending}"),
    );
    check(
        "outcome:a,outcome:b\n1,2\n",
        "people.csv, line 1: there is no context variable, only outcomes and means\nhelp: add at least one column that describes the person",
    );
    check("age,outcome:a,outcome:b\n", "people.csv: there is a header but no row\nhelp: add one row for every person");
}

#[test]
fn bad_rows_are_errors() {
    let header = "age,outcome:a,outcome:b\n";
    let ending = "give every row one field for each name in the header, separated by commas";
    check(
        format!("{header}1,2,3\n1,2\n"),
        &format!(
            "people.csv, line 3, column 3 (outcome:b): this column is missing: the row has 2 of 3 columns\nhelp: {ending}"
        ),
    );
    check(
        format!("{header}1,2,3,\n"),
        &format!(
            "people.csv, line 2, column 4 (no name): this column is one too many: the row has 4 columns where 3 are expected\nhelp: {ending}"
        ),
    );
    let ending = "which is not a finite number\nhelp: correct the field, or remove the person's row";
    for (written, shown) in
        [("", "\"\""), ("NA", "\"NA\""), ("nan", "\"nan\""), ("-inf", "\"-inf\""), ("1 000", "\"1 000\"")]
    {
        check(
            format!("{header}\n1,2,3\r\n4,{written},6"),
            &format!("people.csv, line 4, column 2 (outcome:a): found {shown}, {ending}"),
        );
    }
    check(
        "\"age\nin years\",outcome:a,outcome:b\n1,2,3\nx,2,3\n",
        &format!("people.csv, line 4, column 1 (age\nin years): found \"x\", {ending}"),
    );
    check(
        format!("{header}1e10,2,3\n"),
        "people.csv, line 2, column 1 (age): found 10¹⁰, beyond the limit of 10⁹\nhelp: express the column in a larger unit, or correct the value",
    );
}

#[test]
fn a_file_that_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let found = message(table::read(&folder.path().join("nowhere.csv")), &folder);
    assert_eq!(found, "nowhere.csv: cannot be read\nhelp: check the path, and that you have permission to read it");
}
