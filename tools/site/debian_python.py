"""Debian's packages for Python belong to Debian's Python, which need not be the first on the path."""
import importlib.util
import os
import sys

DEBIANS = "/usr/bin/python3"


def _has(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def need(*modules):
    """Starts the script again with Debian's Python if this one lacks a module. If that one lacks it too, imports say so."""
    if (
        not all(map(_has, modules))
        and os.path.exists(DEBIANS)
        and os.path.realpath(sys.executable) != os.path.realpath(DEBIANS)
    ):
        os.execv(DEBIANS, [DEBIANS, *sys.argv])
