//! Realisations of IHDP as NumPy archives.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use npyz::{Deserialize, NpyFile, NpyHeader};
use rarely_core::{MAX_CONTEXT_ENTRY, MAX_REWARD};
use zip::ZipArchive;
use zip::result::ZipError;

use super::{COVARIATES, by_arm, covariate_names, extension, file_name};
use crate::{CounterfactualFormat, Counterfactuals, DataError, Location};

/// The source of realisations: a file, or two archives that are one set.
pub(super) enum RealisationSource<'a> {
    /// A CSV file.
    CommaSeparated(&'a Path),
    /// An archive by itself.
    Archive(&'a Path),
    /// The two splits of a set.
    Splits { train: &'a Path, test: &'a Path },
}

#[derive(Clone, Copy, PartialEq)]
enum Split {
    Train,
    Test,
}

/// The files in order, with each training split joined to its test split where the first of them stands.
pub(super) fn paired(files: &[PathBuf]) -> Result<Vec<RealisationSource<'_>>, DataError> {
    let mut sources = Vec::new();
    let mut joined = vec![false; files.len()];
    for (at, file) in files.iter().enumerate() {
        if joined[at] {
            continue;
        }
        match extension(file).as_str() {
            "csv" => sources.push(RealisationSource::CommaSeparated(file)),
            "npz" => match other_split(files, &joined, at) {
                None => sources.push(RealisationSource::Archive(file)),
                Some((other, split)) => {
                    joined[other] = true;
                    sources.push(match split {
                        Split::Train => RealisationSource::Splits { train: &files[other], test: file },
                        Split::Test => RealisationSource::Splits { train: file, test: &files[other] },
                    });
                }
            },
            _ => return Err(DataError::UnknownKind { file: file.clone() }),
        }
    }
    Ok(sources)
}

/// The later file that is the other split of the same set, and which split that is. A file in the same folder is preferred.
fn other_split(files: &[PathBuf], joined: &[bool], at: usize) -> Option<(usize, Split)> {
    let (set, split) = set_and_split(&files[at])?;
    let candidates = (at + 1..files.len()).filter(|&other| {
        !joined[other] && set_and_split(&files[other]).is_some_and(|found| found.0 == set && found.1 != split)
    });
    let other = candidates.min_by_key(|&other| files[other].parent() != files[at].parent())?;
    Some((other, if split == Split::Train { Split::Test } else { Split::Train }))
}

fn set_and_split(file: &Path) -> Option<(String, Split)> {
    let name = file_name(file);
    let train = name.strip_suffix(".train.npz").map(|set| (set.to_owned(), Split::Train));
    train.or_else(|| name.strip_suffix(".test.npz").map(|set| (set.to_owned(), Split::Test)))
}

/// Reads an archive by itself.
pub(super) fn read(file: &Path) -> Result<Vec<Counterfactuals>, DataError> {
    let set = Set::read(file)?;
    let split = match set_and_split(file) {
        Some((_, Split::Train)) => " (training split only)",
        Some((_, Split::Test)) => " (test split only)",
        None => "",
    };
    let label = |number: usize| format!("{}, realisation {number}{split}", file_name(file));
    Ok((0..set.realisations).map(|index| set.realisation(index, label(index + 1))).collect())
}

/// Reads the two splits of a set, person by person one after the other.
pub(super) fn read_splits(train: &Path, test: &Path) -> Result<Vec<Counterfactuals>, DataError> {
    let (first, second) = (Set::read(train)?, Set::read(test)?);
    if first.realisations != second.realisations {
        return Err(DataError::Splits {
            train: train.to_owned(),
            train_realisations: first.realisations,
            test: test.to_owned(),
            test_realisations: second.realisations,
        });
    }
    let name = set_and_split(train).map_or_else(|| file_name(train), |(set, _)| set);
    let joined = |index: usize| {
        let mut people = first.realisation(index, format!("{name}.{{train,test}}.npz, realisation {}", index + 1));
        let rest = second.realisation(index, String::new());
        people.contexts.extend(rest.contexts);
        people.outcomes.extend(rest.outcomes);
        people.means.extend(rest.means);
        people
    };
    Ok((0..first.realisations).map(joined).collect())
}

/// The arrays of an archive.
struct Set {
    people: usize,
    realisations: usize,
    covariates: Array,
    treatment: Array,
    factual: Array,
    counterfactual: Array,
    means: [Array; 2],
}

impl Set {
    fn read(file: &Path) -> Result<Self, DataError> {
        let opened = File::open(file).map_err(|source| DataError::Io { file: file.to_owned(), source })?;
        let mut archive = ZipArchive::new(BufReader::new(opened))
            .map_err(|error| DataError::Archive { file: file.to_owned(), problem: error.to_string() })?;
        let covariates = Array::read(&mut archive, file, "x", MAX_CONTEXT_ENTRY, |shape| match shape {
            &[people, covariates, realisations]
                if people > 0 && covariates == COVARIATES as u64 && realisations > 0 =>
            {
                None
            }
            _ => Some(format!("(people, {COVARIATES}, realisations), none of them 0")),
        })?;
        let (people, realisations) = (covariates.shape[0], covariates.shape[2]);
        let mut of_people = |array| {
            Array::read(&mut archive, file, array, MAX_REWARD, |shape| {
                let fits = shape == [people as u64, realisations as u64];
                (!fits).then(|| format!("({people}, {realisations}), to fit the array x"))
            })
        };
        let set = Self {
            people,
            realisations,
            treatment: of_people("t")?,
            factual: of_people("yf")?,
            counterfactual: of_people("ycf")?,
            means: [of_people("mu0")?, of_people("mu1")?],
            covariates,
        };
        match set.treatment.values.iter().position(|&value| value != 0.0 && value != 1.0) {
            None => Ok(set),
            Some(at) => {
                let location = location(file, "t", set.treatment.index_of(at));
                Err(DataError::Treatment { location, found: set.treatment.values[at] })
            }
        }
    }

    fn realisation(&self, index: usize, label: String) -> Counterfactuals {
        let mut people = Counterfactuals {
            label,
            columns: covariate_names(),
            contexts: Vec::with_capacity(self.people * COVARIATES),
            arms: 2,
            outcomes: Vec::with_capacity(self.people * 2),
            means: Vec::with_capacity(self.people * 2),
        };
        for person in 0..self.people {
            people.contexts.extend((0..COVARIATES).map(|covariate| self.covariates.at(&[person, covariate, index])));
            let at = [person, index];
            let treated = self.treatment.at(&at) == 1.0;
            people.outcomes.extend(by_arm(treated, self.factual.at(&at), self.counterfactual.at(&at)));
            people.means.extend(self.means.iter().map(|mean| mean.at(&at)));
        }
        people
    }
}

/// An array in the order it was stored in.
struct Array {
    shape: Vec<usize>,
    strides: Vec<usize>,
    values: Vec<f64>,
}

impl Array {
    /// Reads an array whose shape `wrong` does not object to, and whose elements are finite and at most `limit` in magnitude.
    fn read(
        archive: &mut ZipArchive<BufReader<File>>,
        file: &Path,
        array: &'static str,
        limit: f64,
        wrong: impl FnOnce(&[u64]) -> Option<String>,
    ) -> Result<Self, DataError> {
        let unreadable = |problem: String| DataError::Array { file: file.to_owned(), array, problem };
        let names = archive.file_names().filter_map(Result::ok);
        let mut present: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".npy")?.to_owned())).collect();
        present.sort();
        let mut found = match archive.by_name(&format!("{array}.npy")) {
            Err(ZipError::FileNotFound) => {
                return Err(DataError::MissingArray { file: file.to_owned(), array, present });
            }
            found => found.map_err(|error| unreadable(error.to_string()))?,
        };
        let header = NpyHeader::from_reader(&mut found).map_err(|error| unreadable(error.to_string()))?;
        if let Some(expected) = wrong(header.shape()) {
            return Err(DataError::Shape { file: file.to_owned(), array, found: header.shape().to_vec(), expected });
        }
        let mut bytes = BufReader::new(found);
        let Some(values) = numbers(&header, &mut bytes) else {
            return Err(DataError::ElementType { file: file.to_owned(), array, found: header.dtype().descr() });
        };
        let values = values.map_err(|error| unreadable(error.to_string()))?;
        // Reading to the end, and not only to the last element, is what makes the archive check the sum of its bytes.
        match bytes.read(&mut [0]) {
            Ok(0) => {}
            Ok(_) => return Err(unreadable("there are more bytes than its shape needs".to_owned())),
            Err(error) => return Err(unreadable(error.to_string())),
        }
        let too_large = || unreadable("its shape is too large for this machine".to_owned());
        let sizes =
            |sizes: &[u64]| sizes.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<Vec<usize>>>();
        let shape = sizes(header.shape()).ok_or_else(too_large)?;
        let strides = sizes(header.strides()).ok_or_else(too_large)?;
        if shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size)) != Some(values.len()) {
            return Err(too_large());
        }
        let read = Self { shape, strides, values };
        read.check(file, array, limit)?;
        Ok(read)
    }

    fn check(&self, file: &Path, array: &'static str, limit: f64) -> Result<(), DataError> {
        let Some(at) = self.values.iter().position(|value| !(value.abs() <= limit)) else { return Ok(()) };
        let (location, found) = (location(file, array, self.index_of(at)), self.values[at]);
        Err(if found.is_finite() {
            DataError::TooLarge { location, found, limit }
        } else {
            DataError::NotFinite { location, found: found.to_string(), format: CounterfactualFormat::IhdpArchive }
        })
    }

    fn at(&self, index: &[usize]) -> f64 {
        self.values[index.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum::<usize>()]
    }

    /// The indices of the element stored at `position`.
    fn index_of(&self, position: usize) -> Vec<usize> {
        self.shape.iter().zip(&self.strides).map(|(size, stride)| position / stride % size).collect()
    }
}

fn location(file: &Path, array: &str, index: Vec<usize>) -> Location {
    Location::Element { file: file.to_owned(), array: array.to_owned(), index }
}

/// All elements as numbers, in the order they are stored in; `None` if their type is not supported.
fn numbers(header: &NpyHeader, bytes: &mut impl Read) -> Option<std::io::Result<Vec<f64>>> {
    fn all<T: Deserialize>(
        header: &NpyHeader,
        bytes: &mut impl Read,
        number: impl Fn(T) -> f64,
    ) -> Option<std::io::Result<Vec<f64>>> {
        let elements = NpyFile::with_header(header.clone(), bytes).try_data::<T>().ok()?;
        // The header may promise more than the archive holds, so that memory is taken only as elements come.
        let mut numbers = Vec::new();
        for element in elements {
            match element {
                Ok(element) => numbers.push(number(element)),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(numbers))
    }
    all(header, bytes, |element: f64| element)
        .or_else(|| all(header, bytes, |element: f32| f64::from(element)))
        .or_else(|| all(header, bytes, |element: i64| element as f64))
        .or_else(|| all(header, bytes, |element: i32| f64::from(element)))
        .or_else(|| all(header, bytes, |element: u8| f64::from(element)))
        .or_else(|| all(header, bytes, |element: bool| f64::from(u8::from(element))))
}
