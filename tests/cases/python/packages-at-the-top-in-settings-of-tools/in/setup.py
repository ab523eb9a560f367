from setuptools import Extension, find_packages, setup

setup(
    name="acme",
    packages=find_packages(include=["acme", "acme.*"]),
    package_data={"acme": ["data/*.json"], "acme.sub": ["*.txt"]},
    package_dir={"acme": "acme"},
    entry_points={"console_scripts": ["acme=acme.cli:main", "acme-now = acme:start"]},
    ext_modules=[Extension("acme._ext", ["acme/_ext.c"])],
    description="acme",
    cmdclass="acme",
)
