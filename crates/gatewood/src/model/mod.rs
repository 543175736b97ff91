//! A circuit with all it needs to be used again: names, settings, and its file.
