# OpenBLAS in its serial build: the parallelism is ours, over lane blocks. Defines OpenBLASSerial::OpenBLASSerial.
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-serial)
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-serial)
mark_as_advanced(OPENBLAS_INCLUDE_DIR OPENBLAS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASSerial REQUIRED_VARS OPENBLAS_LIBRARY OPENBLAS_INCLUDE_DIR)

if(OpenBLASSerial_FOUND AND NOT TARGET OpenBLASSerial::OpenBLASSerial)
  add_library(OpenBLASSerial::OpenBLASSerial UNKNOWN IMPORTED)
  set_target_properties(OpenBLASSerial::OpenBLASSerial PROPERTIES
    IMPORTED_LOCATION ${OPENBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE_DIR})
endif()
