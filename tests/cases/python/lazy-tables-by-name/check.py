import datakit

assert datakit.read_json.__module__ == "datakit.js"
assert datakit.read_csv.__module__ == "datakit.readers"
