# The paper's printed numbers, compiled in: benchmarks/paper/c2st.csv as a string.
file(READ ${PROJECT_SOURCE_DIR}/benchmarks/paper/c2st.csv CATENA_PAPER_TABLE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/paper/c2st.csv)
configure_file(${PROJECT_SOURCE_DIR}/cmake/paper_table.h.in ${PROJECT_BINARY_DIR}/generated/catena/experiment/paper_table.h @ONLY)
target_include_directories(catena_experiment PRIVATE ${PROJECT_BINARY_DIR}/generated)
