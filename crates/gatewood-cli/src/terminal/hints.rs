//! Hints for options that other programs have under another name.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What people type, and what it is called here.
const NAMES: [(&str, &str); 32] = [
    ("epochs", "--rounds"),
    ("iterations", "--rounds"),
    ("num-iterations", "--rounds"),
    ("n-iter", "--rounds"),
    ("max-iter", "--rounds"),
    ("n-estimators", "--rounds"),
    ("num-trees", "--rounds"),
    ("num-rounds", "--rounds"),
    ("num-boost-round", "--rounds"),
    ("nrounds", "--rounds"),
    ("max-depth", "--depth"),
    ("lr", "--learning-rate"),
    ("eta", "--learning-rate"),
    ("shrinkage", "--learning-rate"),
    ("random-state", "--seed"),
    ("random-seed", "--seed"),
    ("n-jobs", "--threads"),
    ("num-threads", "--threads"),
    ("nthread", "--threads"),
    ("jobs", "--threads"),
    ("label-column", "--label"),
    ("test-size", "--holdout"),
    ("test-fraction", "--holdout"),
    ("cross-validation", "--cv"),
    ("n-splits", "--cv"),
    ("k-folds", "--cv"),
    ("out", "--output"),
    ("save", "--output"),
    ("class-weights", "--class-weight"),
    ("format", "--to"),
    ("predict-proba", "--proba"),
    ("probabilities", "--proba"),
];

/// The error of the command line, with a hint where an option is known by another name.
pub(crate) fn with_hint(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return error };
    let bare = given.trim_start_matches('-').replace('_', "-").to_lowercase();
    let bare = bare.split('=').next().unwrap_or_default();
    let Some((_, here)) = NAMES.iter().find(|(name, _)| *name == bare) else { return error };
    if !command.get_subcommands().any(|subcommand| has_option(subcommand, here)) {
        return error;
    }
    let hint = format!("{given} is called {here} here");
    // In place of an option that is merely spelled alike, and of the usage with it.
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Usage);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

fn has_option(command: &clap::Command, option: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == option.strip_prefix("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hint_leads_to_an_option_and_none_hides_one() {
        let command = crate::command_line();
        for (name, here) in NAMES {
            assert!(command.get_subcommands().any(|sub| has_option(sub, here)), "there is no {here}");
            let has_both =
                |sub: &clap::Command| has_option(sub, here) && has_option(sub, &format!("--{name}"));
            assert!(!command.get_subcommands().any(has_both), "--{name} is an option beside {here}");
        }
    }

    #[test]
    fn familiar_names_get_a_hint() {
        let hint = |words: &str| {
            let error = crate::command_line().try_get_matches_from(words.split(' ')).unwrap_err();
            with_hint(error, &crate::command_line()).to_string()
        };
        let epochs = hint("gatewood train mnist35 --epochs 3");
        assert!(epochs.contains("--epochs is called --rounds here"), "{epochs}");
        assert!(!epochs.contains("similar") && !epochs.contains("Usage"), "{epochs}");
        assert!(hint("gatewood train mnist35 --n_estimators=3").contains("is called --rounds here"));
        assert!(!hint("gatewood train mnist35 --bananas 3").contains("is called"));
    }
}
