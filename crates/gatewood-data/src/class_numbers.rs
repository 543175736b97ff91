//! Class numbers of files that bring their labels, as classes with names; and the other way round.

use gatewood::encode::{Column, Labels};
use gatewood::text::{quote, short};
use gatewood::{Error, Result};

use crate::sets::{PHOTOGRAPHS, class_names};
use crate::{DataSpec, Source};

/// The files that number their classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbered {
    /// CIFAR-10 binaries.
    Cifar,
    /// IDX labels.
    Idx,
    /// The output of a PLA file.
    Pla,
}

/// The set that a model was learned from, as the user named it; none where that was a file.
fn set_of(learned_from: &str) -> Option<String> {
    match learned_from.parse::<DataSpec>().ok()?.source {
        Source::Named(name) => Some(name),
        _ => None,
    }
}

/// What the numbers of a file stand for, given the classes of a model and what it was learned from; nothing where that is not
/// certain.
fn names_of(numbered: Numbered, classes: &[String], learned_from: Option<&str>) -> Option<Vec<String>> {
    let set = learned_from.and_then(set_of);
    let of_set = |set: &str| Some(class_names(set)?.iter().map(|&name| name.to_owned()).collect());
    match numbered {
        // The format is that of one set, whose classes have fixed numbers.
        Numbered::Cifar if classes.iter().all(|class| PHOTOGRAPHS.contains(&&**class)) => of_set("cifar10"),
        Numbered::Cifar => None,
        Numbered::Idx => of_set(set.as_deref().filter(|&set| set != "cifar10")?),
        // As the set is written as PLA, and as a circuit says it: 1 for the second class.
        Numbered::Pla => (set.is_some() && classes.len() == 2).then(|| classes.to_vec()),
    }
}

/// The labels of a file as positions among the classes of a model.
///
/// # Errors
/// When a row has no label, or one that is not among the classes.
pub(crate) fn labels_among(
    (name, column): (&str, &Column),
    numbered: Option<Numbered>,
    classes: &[String],
    learned_from: Option<&str>,
) -> Result<Labels> {
    let plain = Labels::from_column_with(name, column, classes.to_vec());
    let (Err(error), Some(numbered)) = (&plain, numbered) else { return plain };
    let Some(names) = names_of(numbered, classes, learned_from) else {
        return Err(Error::data(format!(
            "{error}; the file numbers its classes, and nothing says which class of the model has which number: write the rows \
             as CSV, with the names of the classes"
        )));
    };
    let numbers =
        Labels::from_column_with(name, column, (0..256).map(|number| number.to_string()).collect())?;
    let positions: Vec<Option<u32>> = names
        .iter()
        .map(|name| classes.iter().position(|class| class == name).map(|position| position as u32))
        .collect();
    let code = |(row, &number): (usize, &u32)| {
        positions.get(number as usize).copied().flatten().ok_or_else(|| {
            let name = names.get(number as usize).filter(|name| **name != number.to_string());
            let known = name.map_or(String::new(), |name| format!(", {}", quote(name)));
            Error::data(format!(
                "row {} has the label {number}{known}, which is not one of the classes: {}",
                row + 1,
                shown(classes)
            ))
        })
    };
    Labels::new(classes.to_vec(), numbers.codes().iter().enumerate().map(code).collect::<Result<_>>()?)
}

/// The classes of a set as the numbers that a file of it has, where a model was learned from such a file.
pub(crate) fn as_numbers(labels: &Labels, set: &str, classes: &[String]) -> Option<Labels> {
    let names = class_names(set)?;
    let number =
        |class: &String| names.iter().position(|name| name == class).map(|number| number.to_string());
    let numbers: Vec<String> = labels.classes().iter().map(number).collect::<Option<_>>()?;
    let are_numbers =
        classes.iter().all(|class| class.parse().is_ok_and(|number: usize| number < names.len()));
    are_numbers.then(|| Labels::new(numbers, labels.codes().to_vec()).ok()).flatten()
}

/// The same labels as positions among other class names.
///
/// # Errors
/// When a row is of a class that is not among them.
pub fn renumbered(labels: &Labels, classes: &[String]) -> Result<Labels> {
    let positions: Vec<Option<u32>> = labels
        .classes()
        .iter()
        .map(|class| classes.iter().position(|other| other == class).map(|position| position as u32))
        .collect();
    let code = |&code: &u32| {
        positions[code as usize].ok_or_else(|| {
            Error::data(format!(
                "class {} is not one of the model's: {}",
                quote(&labels.classes()[code as usize]),
                shown(classes)
            ))
        })
    };
    Labels::new(classes.to_vec(), labels.codes().iter().map(code).collect::<Result<_>>()?)
}

fn shown(classes: &[String]) -> String {
    classes.iter().take(10).map(|class| short(class)).collect::<Vec<_>>().join(", ")
}
