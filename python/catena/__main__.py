"""The command `catena`, and `python -m catena`: the program that was installed with the package."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    package = pathlib.Path(__file__).parent
    program = package / "bin" / "catena"
    if not program.exists():  # the build tree of `make build`, where the package is a directory of links
        program = pathlib.Path(sys.modules["catena"].__file__ or "").parents[2] / "catena"
    if not program.exists():
        sys.exit("catena: the program is missing beside the package; install it again with pip install .")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
