"""What files of the program say, without what a clock said: for tests that compare two runs bit for bit."""

import json
import struct

import h5py
import numpy as np


def without_seconds(value):
    """JSON without what a clock said."""
    if isinstance(value, dict):
        return {key: without_seconds(each) for key, each in value.items() if key != "seconds"}
    return [without_seconds(each) for each in value] if isinstance(value, list) else value


def bits(array):
    """The values of an array: of numbers their bytes, so that NaN equals itself."""
    values = np.asarray(array)
    return values.tolist() if values.dtype == object else (values.shape, values.tobytes())


def contents(path):
    """All that a file says: its arrays and attributes, its bytes, or of a model everything but the seconds that training took."""
    if path.suffix == ".nc":  # whose library notes when it wrote
        with h5py.File(path) as file:
            return {name: bits(file[name]) for name in file}, {name: str(text) for name, text in file.attrs.items()}
    data = path.read_bytes()
    if path.suffix != ".safetensors":
        return data
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    about = {key: without_seconds(json.loads(text)) if text[:1] == "{" else text for key, text in header["__metadata__"].items()}
    arrays = {key: value for key, value in header.items() if key != "__metadata__"}
    # The header's length depends on the seconds; offsets count from its end.
    return about, arrays, data[8 + length :]


def tree(path):
    """Every array and attribute of a netCDF file, its groups included, without the seconds that JSON texts speak of."""
    said = {}

    def plain(value):
        text = value.decode() if isinstance(value, bytes) else value
        if isinstance(text, str) and text[:1] == "{":
            return without_seconds(json.loads(text))
        return str(text)

    def note(name, item):
        values = bits(item) if isinstance(item, h5py.Dataset) else None
        said[name] = values, {key: plain(value) for key, value in item.attrs.items() if key not in ("REFERENCE_LIST", "DIMENSION_LIST")}

    with h5py.File(path) as file:
        note("/", file)
        file.visititems(note)
    return said


def rows(folder):
    """The rows of an experiment: what they are and what came out, without what a clock said."""
    return [line.split(",")[:9] for line in (folder / "rows.csv").read_text().splitlines()]


def litter(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in (".tmp", ".partial", ".checkpoint"))
