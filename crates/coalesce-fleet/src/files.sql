-- What the rows say of each file: one row a file that has units.
SELECT
    repository,
    path,
    MIN(form) AS form,
    MIN(root) AS root,
    MIN(repository_commit) AS repository_commit,
    MIN(changed) AS changed,
    MIN(file_hash) AS file_hash,
    COUNT(*) AS units,
    SUM(last_line - first_line + 1) AS lines
FROM (
    SELECT DISTINCT
        unit, repository, path, form, root, repository_commit, changed, file_hash, first_line, last_line
    FROM fingerprints
) AS units
GROUP BY repository, path
