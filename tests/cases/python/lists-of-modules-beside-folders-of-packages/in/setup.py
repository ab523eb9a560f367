from setuptools import setup

setup(
    name="pkg",
    packages=["pkg", "pkg.gpu"],
    package_dir={"pkg": "lib/pkg"},
    py_modules=["compat"],
)
