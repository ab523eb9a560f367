// coalesce: allow(orphan-file, read by a build script as a text)
