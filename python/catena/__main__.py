"""The command `catena`, and `python -m catena`: the program that was installed with the package."""

from __future__ import annotations

import os
import sys

from ._program import program


def main() -> None:
    """Becomes the program."""
    path = program()
    if path is None:
        sys.exit("catena: the program is missing beside the package; install it again with pip install .")
    os.execv(path, ["catena", *sys.argv[1:]])


if __name__ == "__main__":
    main()
