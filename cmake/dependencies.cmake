# Everything comes from Debian packages (tools/debian-packages.txt). What headers of ours include is public;
# the rest stays behind one interface target, so that a consumer's compiler never sees it.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(TBB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(NETCDF REQUIRED IMPORTED_TARGET netcdf)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)

# OpenBLAS in its serial build: the parallelism is ours, over lane blocks.
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-serial REQUIRED)
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-serial REQUIRED)

add_library(catena_private_dependencies INTERFACE)
target_link_libraries(catena_private_dependencies INTERFACE
  PkgConfig::HWY PkgConfig::NETCDF TBB::tbb Threads::Threads ${OPENBLAS_LIBRARY} ${CMAKE_DL_LIBS})
target_include_directories(catena_private_dependencies SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR})
