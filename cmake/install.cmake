# The CMake package: `cmake --install build --prefix DIR`, then find_package(catena) and catena::catena.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/catena)

install(TARGETS catena catena_private_dependencies EXPORT catenaTargets)
install(EXPORT catenaTargets NAMESPACE catena:: DESTINATION ${package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/catena DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "experiment" EXCLUDE)
if(CATENA_BUILD_CLI)
  install(TARGETS catena_cli)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/catenaConfig.cmake.in ${PROJECT_BINARY_DIR}/catenaConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/catenaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/catenaConfig.cmake ${PROJECT_BINARY_DIR}/catenaConfigVersion.cmake
  DESTINATION ${package_dir})
