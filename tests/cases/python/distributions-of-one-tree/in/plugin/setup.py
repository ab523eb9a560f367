from setuptools import setup

REQUIRED = open("requirements.txt").read().split()
setup(name="acme-plugin", packages=["acme_plugin"], package_dir={"": "src"}, install_requires=REQUIRED)
