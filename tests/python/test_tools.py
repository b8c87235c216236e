"""The scripts in tools/ that guard the tree."""

import subprocess
import sys

README = """
| folder | level | what |
|---|---|---|
| `core/` | 0 | base |
| `nn/` | 1 | networks |
| `files/` | 1 | files |
| `simulate/` | 2 | simulators |
"""


def check_includes(root, tree):
    (tree / "src").mkdir(parents=True, exist_ok=True)
    (tree / "src/README.md").write_text(README)
    return subprocess.run([sys.executable, root / "tools/check-includes", tree], capture_output=True, text=True)


def write(tree, name, text):
    path = tree / "src/catena" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_includes_that_point_downwards_pass(root, tmp_path):
    write(tmp_path, "core/a.h", "#include <vector>\n#include <Eigen/Core>\n#include <fmt/format.h>\n")
    write(tmp_path, "nn/b.h", '#include "catena/core/a.h"\n#include "catena/nn/c.h"\n')
    write(tmp_path, "simulate/d.cpp", '#include <netcdf.h>\n#include <tbb/tbb.h>\n#include "catena/nn/b.h"\n')
    result = check_includes(root, tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


def test_each_include_that_points_up_or_sideways_is_named(root, tmp_path):
    write(tmp_path, "core/a.cpp", '#include "catena/simulate/d.h"\n')
    write(tmp_path, "nn/b.cpp", '  #  include "catena/files/c.h"\n')
    write(tmp_path, "nn/unknown.cpp", '#include "catena/nowhere/c.h"\n')
    result = check_includes(root, tmp_path)
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "src/catena/core/a.cpp: includes catena/simulate/d.h, but simulate/ is not below core/",
        "src/catena/nn/b.cpp: includes catena/files/c.h, but files/ is not below nn/",
        "src/catena/nn/unknown.cpp: includes catena/nowhere/c.h, but nowhere/ is not below nn/",
    ]


def test_private_libraries_in_public_headers_are_named(root, tmp_path):
    write(tmp_path, "core/a.h", "#include <tbb/task_arena.h>\n#include <netcdf.h>\n")
    write(tmp_path, "core/b_kernels.h", "#include <hwy/highway.h>\n")
    result = check_includes(root, tmp_path)
    assert result.returncode == 1
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["src/catena/core/a.h"] * 2


def test_relative_includes_and_unlisted_folders_are_named(root, tmp_path):
    write(tmp_path, "core/a.cpp", '#include "b.h"\n')
    write(tmp_path, "extra/c.cpp", "")
    result = check_includes(root, tmp_path)
    assert result.returncode == 1
    assert '"catena/FOLDER/FILE"' in result.stderr
    assert "extra/ is not in the table" in result.stderr


def test_the_tree_itself_passes(root):
    result = subprocess.run([sys.executable, root / "tools/check-includes"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
