"""Asks an SQL engine for what the fingerprints of many repositories have in common.

Called with the engine's name, the folder of Parquet files, and three queries; prints one JSON list a row,
and an empty line after each answer. It is the engine that joins; here is only how each is called.
"""

import sys

# Nothing of the folder that this is called in is imported.
sys.path = [place for place in sys.path if place]

import json
import os


def datafusion(files, queries):
    import datafusion

    context = datafusion.SessionContext()
    context.register_parquet("fingerprints", files)

    def rows(answer):
        for batch in answer:
            yield from zip(*(column.to_pylist() for column in batch.columns))

    candidates, *others = queries
    answer = context.sql(candidates).collect()
    yield rows(answer)
    if answer:
        context.register_record_batches("candidates", [answer])
        for query in others:
            yield rows(context.sql(query).collect())
    else:
        yield []
        yield rows(context.sql(others[-1]).collect())


def duckdb(files, queries):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    place = files.replace("'", "''")
    connection.execute(f"CREATE VIEW fingerprints AS SELECT * FROM read_parquet('{place}/*.parquet')")
    candidates, *others = queries
    connection.execute(f"CREATE TABLE candidates AS {candidates}")
    yield connection.execute("SELECT a, b, shared, same FROM candidates").fetchall()
    for query in others:
        yield connection.execute(query).fetchall()


def pyspark(files, queries):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.config("spark.sql.shuffle.partitions", "8").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    rows = session.read.option("pathGlobFilter", "*.parquet").parquet(files)
    rows.createOrReplaceTempView("fingerprints")
    candidates, *others = queries
    answer = session.sql(candidates).cache()
    answer.createOrReplaceTempView("candidates")
    yield answer.collect()
    for query in others:
        yield session.sql(query).collect()


def main():
    engine, files, *queries = sys.argv[1:]
    # Whatever an engine prints is talk, and no answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for rows in {"datafusion": datafusion, "duckdb": duckdb, "pyspark": pyspark}[engine](files, queries):
        write = answers.write
        for row in rows:
            write(json.dumps(list(row), separators=(",", ":")) + "\n")
        write("\n")
    answers.flush()
    # An engine's own threads end slowly, and there is nothing left to do.
    os._exit(0)


main()
