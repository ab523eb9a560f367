from setuptools import setup

PACKAGES = ["pkg", "pkg.io"]

setup(name="pkg", packages=PACKAGES)
