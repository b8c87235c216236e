# A folder at a time: the files of a folder are compiled together, so that Eigen, JSON and CLI11 are read, and their
# templates compiled, once for each folder and not once for each file. What is in one folder therefore shares one
# anonymous namespace. Files that Highway compiles once for each instruction set stay alone.
function(catena_unity target)
  if(NOT CATENA_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    # The rooms of tasks/ are small and have a namespace each: one unit for all of them.
    string(REGEX REPLACE "^(src/catena/tasks)/.*" "\\1" folder "${folder}")
    string(MAKE_C_IDENTIFIER ${folder} group)
    file(STRINGS ${source} alone REGEX "define HWY_TARGET_INCLUDE|not with its neighbours" LIMIT_COUNT 1)
    if(alone)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    else()
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  # One file includes the others, so that GCC takes their anonymous namespaces for a header's, Clang a neighbour's
  # constant for one that a local name hides, and clang-tidy wonders.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    $<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
    UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()
