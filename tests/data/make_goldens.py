"""Writes the golden files of the readers and the seeds of the fuzz targets; the results are committed.

Recipe: python3 -m venv venv; venv/bin/pip install numpy safetensors h5py netCDF4; venv/bin/python tests/data/make_goldens.py
Written with numpy 2.4.6, safetensors 0.8.0, h5py 3.16.0, netCDF4 1.7.5. Fixed values, no randomness. Reason: files of
other programs must stay readable, and the fuzz targets need seeds of formats that catena itself does not write (HDF5
without checksums, classic netCDF).
"""
import json
import pathlib

import h5py
import netCDF4
import numpy as np
from safetensors.numpy import save_file

data = pathlib.Path(__file__).parent
corpus = data.parent / "fuzz" / "corpus"

save_file(
    {
        "weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 4,
        "mean": np.array([np.pi, np.inf, -0.0]),
        "steps": np.array(12345678901234, dtype=np.int64),
        "empty": np.zeros((0, 3), dtype=np.float32),
    },
    data / "python.safetensors",
    metadata={"format": "np", "author": "Grüße"},
)
(corpus / "safetensors" / "python.safetensors").write_bytes((data / "python.safetensors").read_bytes())


def tensors(header, values=b""):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


entry = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
(corpus / "safetensors" / "one").write_bytes(tensors({"a": entry}, bytes(8)))
(corpus / "safetensors" / "catena").write_bytes(
    tensors({"__metadata__": {"format": "catena-1", "catena": '{"seed": 1, "names": ["a"]}'}, "a": entry}, bytes(8))
)
(corpus / "safetensors" / "none").write_bytes(tensors({}))

(corpus / "json" / "all").write_text('{"a": [1, -2.5e3, null, true, "\\u00e9\\n"], "b": {"c": {}}, "d": []}')
(corpus / "json" / "number").write_text("1e-300")
(corpus / "json" / "nested").write_text("[" * 40 + "]" * 40)

(corpus / "csv" / "header").write_text("time,x,y\n0,1.5,\n1,NaN,2e-3\n# comment\n2,inf,-7\n")
(corpus / "csv" / "plain").write_text("1,2\n3,4\n")
(corpus / "csv" / "semicolon").write_bytes(b'\xef\xbb\xbft;"a;b";c\r\n0;1;2\r\n1;NA;+3\r\n')
(corpus / "csv" / "column").write_text("x\n1\n\n3\n\n")


def fill(file):
    file.createDimension("chain", 2)
    file.createDimension("draw", 3)
    theta = file.createVariable("theta", "f8", ("chain", "draw"))
    theta[:] = np.arange(6).reshape(2, 3) / 4
    theta.units = "1/s"
    count = file.createVariable("count", "i4", ("draw",))
    count[:] = [1, 2, 3]
    file.title = "golden"
    file.levels = np.array([0.5, 1.5])


for name in ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"]:
    path = corpus / "netcdf" / (name.lower() + ".nc")
    with netCDF4.Dataset(path, "w", format=name) as file:
        fill(file)
with netCDF4.Dataset(corpus / "netcdf" / "groups.nc", "w") as file:
    group = file.createGroup("posterior")
    fill(group)
    names = group.createVariable("names", str, ("chain",))
    names[0], names[1] = "a", "größe"
    group.createDimension("length", 4)
    letters = group.createVariable("letters", "S1", ("chain", "length"))
    letters[:] = np.array([list("ab\0\0"), list("cdef")], dtype="S1")
    packed = group.createVariable("packed", "f4", ("draw",), zlib=True, shuffle=True, fletcher32=True)
    packed[:] = [1, 2, 3]
(data / "python.nc").write_bytes((corpus / "netcdf" / "groups.nc").read_bytes())
# The oldest layout of HDF5: no checksums, so that changed bytes reach the library's decoders.
with h5py.File(corpus / "netcdf" / "earliest.nc", "w", libver="earliest") as file:
    file["draw"] = np.arange(3)
    file["draw"].make_scale("draw")
    file["theta"] = np.arange(6.0).reshape(2, 3)
    file["theta"].dims[1].attach_scale(file["draw"])
    file.create_dataset("packed", data=np.arange(8.0), chunks=(4,), compression="gzip")
    file.create_dataset("text", data=["a", "bc"], dtype=h5py.string_dtype())
    file.create_group("inner").attrs["note"] = "x"
