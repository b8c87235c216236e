# CONTRIBUTING's table, taken at its word: in a copy of the tree a rule, a kernel, a task and an operation are added by the
# files of added/ and the lines below, and nothing else. The program, its help and the tests of operations must find them.
# Given: SOURCE (the tree), WORK (a folder to use and to empty), COMPILER.
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result WORKING_DIRECTORY ${WORK})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
function(expect text)
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "${text} is not in:\n${output}")
  endif()
endfunction()
# One line of a file of the tree gets another one behind it.
function(add_line file after line)
  file(READ ${WORK}/${file} text)
  string(REPLACE "${after}" "${after}${line}" changed "${text}")
  if(changed STREQUAL text)
    message(FATAL_ERROR "${file} has no \"${after}\"")
  endif()
  file(WRITE ${WORK}/${file} "${changed}")
endfunction()

foreach(part CMakeLists.txt benchmarks/paper cmake cli examples mpi src tests tools/render-figures)
  cmake_path(GET part PARENT_PATH folder)
  file(COPY ${SOURCE}/${part} DESTINATION ${WORK}/${folder})
endforeach()
file(COPY ${SOURCE}/tests/extend/added/ DESTINATION ${WORK}/src/catena)

# a composition rule: its declaration and its place in the list of compose/rule.cpp
add_line(src/catena/compose/rule.cpp "Rule fnpe_rule();\n" "Rule flat_rule();\n")
add_line(src/catena/compose/rule.cpp "{fnpe_rule(), " "flat_rule(), ")
# a Markov-chain kernel: its declaration and its place in the list of sample/mcmc/kernel.cpp
add_line(src/catena/sample/mcmc/kernel.cpp "KernelEntry slice_kernel();\n" "KernelEntry independence_kernel();\n")
add_line(src/catena/sample/mcmc/kernel.cpp "{slice_kernel(), " "independence_kernel(), ")
# a task: its entry in tasks/registry.cpp, with its #include
add_line(src/catena/tasks/registry.cpp "#include \"catena/tasks/ar/ar.h\"\n" "#include \"catena/tasks/coin_walk/coin_walk.h\"\n")
add_line(src/catena/tasks/registry.cpp " ar::entry(),\n" "coin_walk::entry(),\n")
# an operation: nn/ops/ops.h and nn/ops/registry.cpp, its slow twin in tests/nn/operation_cases_test.cpp
add_line(src/catena/nn/ops/ops.h "Operation dense();\n" "Operation square();\n")
add_line(src/catena/nn/ops/registry.cpp "ops::dense(),\n" "ops::square(),\n")
add_line(tests/nn/operation_cases_test.cpp "activation(\"gelu\", gelu),\n"
  "{\"square\", {{5}}, {}, {}, [](const Operands& o) { return map(o.inputs[0], [](Z x) { return x * x; }); }},\n")

# As the preset `release` does, so that what the additions leave as it was comes out of ccache.
run(${CMAKE_COMMAND} -G Ninja -S ${WORK} -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release -DCATENA_WARNINGS_AS_ERRORS=ON
  -DCMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build --target catena_cli test_nn)
run(${WORK}/build/tests/test_nn --gtest_filter=*Operation*)
expect("PASSED")
run(${WORK}/build/catena tasks)
expect("coin_walk")
run(${WORK}/build/catena settings)
expect("flat")
expect("independence")
run(${WORK}/build/catena simulate coin_walk --budget 400 --seed 1 -o t.nc)
run(${WORK}/build/catena observe coin_walk --transitions 1 --seed 2 -o s.csv)
run(${WORK}/build/catena train t.nc --method fnle --density gaussian --decay 1 --steps 40 --seed 1 -o m.safetensors)
run(${WORK}/build/catena sample m.safetensors --observation s.csv -n 50 --kernel independence --least-ess 50 -o p.nc)
run(${WORK}/build/catena train t.nc --method fnse --network joint --ensemble 1 --width 8 --layers 2 --steps 40 --seed 1 -o n.safetensors)
run(${WORK}/build/catena sample n.safetensors --observation s.csv -n 20 --rule flat --steps 5 -o q.nc)
file(REMOVE_RECURSE ${WORK})
