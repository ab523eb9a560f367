-- Which units of different repositories are worth a closer look: all units of one text, and one unit of
-- each of two texts that share much of what few texts have.
--
-- `fingerprints` has a row for each fingerprint of each unit (docs/fleet.md). Nothing but standard SQL
-- stands here, so that DataFusion, DuckDB and Spark answer it alike.
WITH units AS (
    SELECT DISTINCT unit, repository, language, exact_hash, unit_grams FROM fingerprints
),
-- Units of one text come in once: a library that everybody carries is compared once, not with each copy.
texts AS (
    SELECT
        language,
        exact_hash,
        MIN(unit) AS unit,
        MIN(unit_grams) AS unit_grams,
        MIN(repository) AS repository,
        COUNT(DISTINCT repository) AS repositories
    FROM units
    GROUP BY language, exact_hash
),
equals AS (
    SELECT texts.unit AS a, units.unit AS b, texts.unit_grams AS shared
    FROM texts
    JOIN units ON units.language = texts.language AND units.exact_hash = texts.exact_hash
    WHERE texts.repositories > 1 AND units.unit <> texts.unit
),
kept AS (
    SELECT
        fingerprints.gram,
        texts.unit,
        texts.language,
        texts.unit_grams,
        texts.repository,
        texts.repositories
    FROM fingerprints
    JOIN texts ON texts.unit = fingerprints.unit
),
-- What many texts have says nothing.
rare AS (
    SELECT gram FROM kept GROUP BY gram HAVING COUNT(*) BETWEEN 2 AND 24
),
few AS (
    SELECT kept.* FROM kept JOIN rare ON rare.gram = kept.gram
),
near AS (
    SELECT a.unit AS a, b.unit AS b, COUNT(*) AS shared
    FROM few AS a
    JOIN few AS b ON b.gram = a.gram AND b.language = a.language AND b.unit > a.unit
    WHERE a.repository <> b.repository OR a.repositories > 1 OR b.repositories > 1
    GROUP BY a.unit, b.unit, a.unit_grams, b.unit_grams
    -- A third of the smaller one's fingerprints.
    HAVING COUNT(*) * 3 >= a.unit_grams OR COUNT(*) * 3 >= b.unit_grams
)
SELECT a, b, shared, 1 AS same FROM equals
UNION ALL
SELECT a, b, shared, 0 AS same FROM near
