# Settings that every target of the project takes: jt_library(TARGET), jt_program(TARGET).
option(JOBTHROTTLE_WERROR "Warnings are errors" OFF)
option(JOBTHROTTLE_STATIC "Link the program statically" OFF)
option(JOBTHROTTLE_TESTS "Build the tests" ON)
option(JOBTHROTTLE_BENCH "Build the micro-benchmarks" OFF)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(jt_settings INTERFACE)
target_include_directories(jt_settings INTERFACE ${PROJECT_SOURCE_DIR}/lib)
# The decision computes with doubles where Lua does; a fused multiply-add would round otherwise.
target_compile_options(jt_settings INTERFACE -ffp-contract=off)

add_library(jt_warnings INTERFACE)
target_compile_options(jt_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Wnull-dereference
    # g++ 12 sees overlaps in "text" + std::string(...) at -O3 that are not there (its bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<BOOL:${JOBTHROTTLE_WERROR}>:-Werror>)

function(jt_library target)
    target_link_libraries(${target} PUBLIC jt_settings)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:jt_warnings>)
endfunction()
