//! Learning: settings, the greedy tree, hill climbing.
