//! Every target on its seeds, and on a few thousand inputs made from them.

use gatewood_fuzz::{Mutator, TARGETS, seeds};

#[test]
fn seeds_and_their_neighbours_do_no_harm() {
    for target in &TARGETS {
        let inputs = seeds(target).unwrap();
        let understood = inputs.iter().filter(|input| (target.run)(input)).count();
        assert!(understood > 0, "{} understands none of its seeds", target.name);
        let mut mutator = Mutator::new(1);
        let times = if target.name == "model_file" { 60 } else { 150 };
        for _ in 0..times {
            (target.run)(&mutator.change(&inputs));
        }
    }
}

#[test]
fn changes_are_the_same_for_the_same_seed_and_do_change() {
    let inputs = vec![b"a,b\n1,2\n".to_vec(), b"{\"x\": 12}".to_vec(), Vec::new()];
    let made = |seed| {
        let mut mutator = Mutator::new(seed);
        (0..500).map(|_| mutator.change(&inputs)).collect::<Vec<_>>()
    };
    assert_eq!(made(3), made(3));
    assert_ne!(made(3), made(4));
    let changed = made(3).iter().filter(|input| !inputs.contains(input)).count();
    // Most changes leave the empty input empty.
    assert!(changed > 300, "{changed} of 500");
}
