"""Parts of tools/hardware/bundle and tools/hardware/visit. The standard library of Python 3.9 is enough for all of
them."""
