//! Which devices a process has and how many pipelines may run on each.
