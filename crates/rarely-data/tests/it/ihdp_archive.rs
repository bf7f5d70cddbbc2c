//! npz archives of IHDP: what is accepted, and what each mistake is called.

use std::fs;
use std::path::{Path, PathBuf};

use npyz::npz::NpzWriter;
use npyz::{AutoSerialize, Order, WriterBuilder as _};
use rarely_data::{Counterfactuals, ihdp};

use crate::ihdp_files::ihdp_files;
use crate::support::message;

const PEOPLE: usize = 4;
const REALISATIONS: usize = 3;

/// How an archive is written, and what is wrong with it.
#[derive(Clone, Copy)]
struct Recipe {
    order: Order,
    element: Element,
    people: usize,
    realisations: usize,
    without: &'static str,
    covariates: usize,
    /// An array, the position of an element in it as C stores it, and what to put there.
    spoiled: (&'static str, usize, f64),
    short_means: bool,
}

#[derive(Clone, Copy)]
enum Element {
    Double,
    Single,
    Integer,
    Short,
}

const GOOD: Recipe = Recipe {
    order: Order::C,
    element: Element::Double,
    people: PEOPLE,
    realisations: REALISATIONS,
    without: "",
    covariates: 25,
    spoiled: ("", 0, 0.0),
    short_means: false,
};

fn array<T: AutoSerialize + Copy>(
    archive: &mut NpzWriter<std::io::BufWriter<fs::File>>,
    name: &str,
    shape: &[usize],
    order: Order,
    values: &[T],
) {
    let sizes: Vec<u64> = shape.iter().map(|&size| size as u64).collect();
    let count: usize = shape.iter().product();
    // Position in Fortran's order to position in C's.
    let in_order: Vec<T> = (0..count)
        .map(|position| match order {
            Order::C => values[position],
            Order::Fortran => {
                let mut left = position;
                let mut index = Vec::new();
                for size in shape {
                    index.push(left % size);
                    left /= size;
                }
                values[shape.iter().zip(&index).fold(0, |at, (size, index)| at * size + index)]
            }
        })
        .collect();
    // The type of the options is npyz's dependency's, and has no name here.
    #[allow(clippy::default_trait_access)]
    let builder = archive.array::<T>(name, Default::default()).expect("an entry").default_dtype();
    let mut writer = builder.shape(&sizes).order(order).begin_nd().expect("a header");
    writer.extend(in_order).expect("elements");
    writer.finish().expect("an end");
}

/// Writes whole numbers, each telling which element of which array it is, and treatments in turn.
#[allow(clippy::cast_possible_truncation)]
fn write(path: &Path, recipe: Recipe) {
    let mut archive = NpzWriter::create(path).expect("an archive");
    for (which, name) in ["x", "t", "yf", "ycf", "mu0", "mu1"].into_iter().enumerate() {
        if name == recipe.without {
            continue;
        }
        let mut shape = vec![recipe.people, recipe.realisations];
        if name == "x" {
            shape.insert(1, recipe.covariates);
        }
        if name == "mu1" && recipe.short_means {
            shape[0] -= 1;
        }
        let count: usize = shape.iter().product();
        let mut values: Vec<f64> =
            (0..count).map(|at| if name == "t" { at % 2 } else { 1000 * which + at } as f64).collect();
        if name == recipe.spoiled.0 {
            values[recipe.spoiled.1] = recipe.spoiled.2;
        }
        match recipe.element {
            Element::Double => array(&mut archive, name, &shape, recipe.order, &values),
            Element::Single => {
                let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
                array(&mut archive, name, &shape, recipe.order, &values);
            }
            Element::Integer => {
                let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
                array(&mut archive, name, &shape, recipe.order, &values);
            }
            Element::Short => {
                let values: Vec<i16> = values.iter().map(|&value| value as i16).collect();
                array(&mut archive, name, &shape, recipe.order, &values);
            }
        }
    }
}

fn check(recipe: Recipe, expected: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("set.npz");
    write(&path, recipe);
    assert_eq!(message(ihdp::read(&[path]), &folder), expected);
}

fn check_content(read: &[Counterfactuals]) {
    assert_eq!(read.len(), REALISATIONS);
    for (realisation, people) in read.iter().enumerate() {
        people.validate().expect("valid");
        assert_eq!((people.people(), people.dimension(), people.arms), (PEOPLE, 25, 2));
        for person in 0..PEOPLE {
            for covariate in 0..25 {
                let expected = (person * 25 + covariate) * REALISATIONS + realisation;
                assert_eq!(people.context(person)[covariate], expected as f64);
            }
            let at = person * REALISATIONS + realisation;
            let (factual, other) = ((2000 + at) as f64, (3000 + at) as f64);
            let expected = if at % 2 == 1 { [other, factual] } else { [factual, other] };
            assert_eq!(people.outcomes_of(person), expected);
            assert_eq!(people.means_of(person), [(4000 + at) as f64, (5000 + at) as f64]);
        }
    }
}

#[test]
fn both_orders_and_every_kind_of_number_give_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("set.npz");
    for order in [Order::C, Order::Fortran] {
        for element in [Element::Double, Element::Single, Element::Integer] {
            write(&path, Recipe { order, element, ..GOOD });
            let read = ihdp::read(std::slice::from_ref(&path)).expect("an archive");
            check_content(&read);
            assert_eq!(read[2].label, "set.npz, realisation 3");
        }
    }
}

fn two_splits() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (train, test) = (folder.path().join("ihdp.train.npz"), folder.path().join("ihdp.test.npz"));
    write(&train, GOOD);
    write(&test, Recipe { people: 2, order: Order::Fortran, ..GOOD });
    (folder, train, test)
}

#[test]
fn splits_given_together_are_joined_person_by_person() {
    let (folder, train, test) = two_splits();
    let from_folder = ihdp::read(&[folder.path().to_owned()]).expect("a folder of archives");
    assert_eq!(from_folder, ihdp::read(&[train.clone(), test.clone()]).expect("two archives"));
    assert_eq!(from_folder, ihdp::read(&[test.clone(), train.clone()]).expect("two archives, the other way round"));
    let (first, second) = (ihdp::read(&[train]).expect("one split"), ihdp::read(&[test]).expect("one split"));
    assert_eq!(first[0].label, "ihdp.train.npz, realisation 1 (training split only)");
    assert_eq!(second[1].label, "ihdp.test.npz, realisation 2 (test split only)");
    assert_eq!(from_folder.len(), REALISATIONS);
    for ((joined, first), second) in from_folder.iter().zip(&first).zip(&second) {
        joined.validate().expect("valid");
        assert_eq!(joined.people(), 6);
        assert_eq!(joined.context(3), first.context(3));
        assert_eq!(joined.context(4), second.context(0));
        assert_eq!(joined.outcomes_of(5), second.outcomes_of(1));
        assert_eq!(joined.means_of(5), second.means_of(1));
    }
    assert_eq!(from_folder[0].label, "ihdp.{train,test}.npz, realisation 1");
}

#[test]
fn splits_of_different_sets_are_not_joined_and_unequal_ones_are_refused() {
    let (folder, train, test) = two_splits();
    let other = folder.path().join("other.test.npz");
    fs::rename(&test, &other).expect("another name");
    assert_eq!(ihdp::read(&[train.clone(), other]).expect("two sets").len(), 2 * REALISATIONS);
    write(&test, Recipe { realisations: 2, ..GOOD });
    assert_eq!(
        message(ihdp::read(&[train, test]), &folder),
        "ihdp.train.npz has 3 realisations and ihdp.test.npz has 2, but the two splits of one set have equally many\nhelp: get both splits from the same place, or give only one"
    );
}

#[test]
fn every_mistake_in_an_archive_is_located() {
    check(
        Recipe { without: "ycf", ..GOOD },
        "set.npz: has no array ycf, only mu0, mu1, t, x, yf\nhelp: get the original archive, which has the arrays x, t, yf, ycf, mu0 and mu1",
    );
    check(
        Recipe { covariates: 24, ..GOOD },
        "set.npz, array x: its shape is (4, 24, 3), but it should be (people, 25, realisations), none of them 0\nhelp: get the original archive",
    );
    check(
        Recipe { people: 0, ..GOOD },
        "set.npz, array x: its shape is (0, 25, 3), but it should be (people, 25, realisations), none of them 0\nhelp: get the original archive",
    );
    check(
        Recipe { short_means: true, ..GOOD },
        "set.npz, array mu1: its shape is (3, 3), but it should be (4, 3), to fit the array x\nhelp: get the original archive",
    );
    check(
        Recipe { element: Element::Short, ..GOOD },
        "set.npz, array x: its elements are '<i2', but only f4, f8, i4, i8, u1 and b1 are read\nhelp: store the array as f8, with `astype(float)`",
    );
    let ending = "which is not a finite number\nhelp: the original archives have no gaps: get the original again";
    for order in [Order::C, Order::Fortran] {
        // Position 100 of x is person 1, covariate 8, realisation 1; position 7 of mu0 is person 2, realisation 1.
        check(
            Recipe { spoiled: ("x", 100, f64::NAN), order, ..GOOD },
            &format!("set.npz, array x[1, 8, 1]: found NaN, {ending}"),
        );
        check(
            Recipe { spoiled: ("mu0", 7, f64::NEG_INFINITY), order, ..GOOD },
            &format!("set.npz, array mu0[2, 1]: found -inf, {ending}"),
        );
        check(
            Recipe { spoiled: ("t", 7, 0.5), order, ..GOOD },
            "set.npz, array t[2, 1]: found 0.5, but a treatment is 0 or 1\nhelp: check that the columns are in their original order",
        );
        check(
            Recipe { spoiled: ("yf", 7, 3e13), order, ..GOOD },
            "set.npz, array yf[2, 1]: found 3×10¹³, beyond the limit of 10¹²\nhelp: express the column in a larger unit, or correct the value",
        );
    }
}

#[test]
fn an_archive_that_is_cut_or_no_archive_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("set.npz");
    write(&path, GOOD);
    let bytes = fs::read(&path).expect("the archive");
    let mut cases: Vec<Vec<u8>> = (0..20).map(|part| bytes[..bytes.len() * part / 20].to_vec()).collect();
    cases.push(b"treatment,y_factual\n".to_vec());
    for case in cases {
        fs::write(&path, case).expect("a file");
        let found = message(ihdp::read(std::slice::from_ref(&path)), &folder);
        assert!(found.starts_with("set.npz: not a readable NumPy archive ("), "{found}");
        assert!(
            found.ends_with(")\nhelp: the file is damaged, incomplete or changed: get the original again"),
            "{found}"
        );
    }
}

/// A changed byte in the elements of an uncompressed array leaves a readable number; the archive's check sum tells.
#[test]
fn a_changed_byte_is_noticed() {
    let Some(folder) = ihdp_files() else { return };
    let mut bytes = fs::read(folder.join("ihdp_npci_1-100.test.npz")).expect("the archive");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let (folder, path) = crate::support::file("set.test.npz", bytes);
    assert_eq!(
        message(ihdp::read(&[path]), &folder),
        "set.test.npz, array x: cannot be read (Invalid checksum)\nhelp: the file is damaged, incomplete or changed: get the original again"
    );
}
