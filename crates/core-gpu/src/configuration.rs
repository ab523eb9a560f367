//! Settings: what the program says, over the environment, over a file.
