from setuptools import setup

setup(
    py_modules=[
        "flat_gone",
        "flat_old",
        "flat_util",
    ],
)
