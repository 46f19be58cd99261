"""Builds the engine of csrc/ into the package; everything else is in pyproject.toml."""

from setuptools import setup

setup(
    cffi_modules=["src/fstrial/engine/_build.py:make"],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
