-- What the rows say of the units that `candidates` names; `candidates` is the answer to candidates.sql.
SELECT DISTINCT
    fingerprints.unit,
    fingerprints.repository,
    fingerprints.path,
    fingerprints.language,
    fingerprints.symbol,
    fingerprints.first_line,
    fingerprints.last_line
FROM fingerprints
JOIN (
    SELECT a AS unit FROM candidates
    UNION
    SELECT b AS unit FROM candidates
) AS named ON named.unit = fingerprints.unit
