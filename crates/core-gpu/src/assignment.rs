//! The devices of a plan's steps, settled before anything runs.
