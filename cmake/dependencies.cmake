# Everything comes from Debian packages (tools/debian-packages.txt). What headers of ours include is public;
# the rest stays behind one interface target, so that a consumer's compiler never sees it.
# Whatever is found here must be found again by cmake/catenaConfig.cmake.in.
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(TBB REQUIRED)
find_package(Boost 1.74 REQUIRED CONFIG)  # headers of Boost.Math alone, for prior/special.cpp: no consumer needs them again
find_package(PkgConfig REQUIRED)
pkg_check_modules(NETCDF REQUIRED IMPORTED_TARGET netcdf)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)

add_library(catena_private_dependencies INTERFACE)
target_link_libraries(catena_private_dependencies INTERFACE
  PkgConfig::HWY PkgConfig::NETCDF TBB::tbb Threads::Threads ${CMAKE_DL_LIBS})
