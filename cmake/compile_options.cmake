# Warnings, sanitizers and floating-point rules, the same for every target of ours.
function(catena_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    # Contraction must not depend on inlining: the same source line gives the same bits everywhere it is compiled.
    -ffp-contract=off
    # Clang blames us for what libstdc++ does inside std::stable_sort.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # The floor is SSE4.2 with AES (2010); Highway's kernels rise from there at run time to AVX2 and AVX-512.
    target_compile_options(${target} PRIVATE -march=x86-64-v2 -mpclmul -maes)
    # Targets that would only repeat the code of their neighbours.
    target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL)")
  endif()
  if(CATENA_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CATENA_ASSERTIONS)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
    # GCC takes Eigen's temporaries for uninitialised where it inlines less.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  if(CATENA_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${CATENA_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${CATENA_SANITIZE})
    if(CATENA_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=undefined)
    endif()
  endif()
endfunction()

# For code that calls the library and has no loops of its own worth a second: half the time to compile.
function(catena_quick_to_compile target)
  # GCC takes members for uninitialised at -O1 that it sees are not at -O3.
  target_compile_options(${target} PRIVATE
    $<$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>:-O1 -Wno-maybe-uninitialized>)
endfunction()
