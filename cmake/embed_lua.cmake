# jt_embed_lua(TARGET NAME a.lua b.lua WITHIN c.lua ...): one script out of these files, as the function
# script_NAME() of scripts.hpp, with the SHA-1 that Redis knows it by. A change of a file builds it anew.
#
# What comes after WITHIN stands in a function inside that of what comes before. Whenever the script runs it makes
# its functions, and for each name that they take from around: Lua finds one of an outer function at once, one of
# the same function by a search. A function has at most 200 names of its own and 60 from around.
function(jt_embed_lua target name)
    set(text "")
    set(ends "")
    foreach(file ${ARGN})
        if(file STREQUAL "WITHIN")
            string(APPEND text "return (function()\n")
            string(APPEND ends "end)()\n")
            continue()
        endif()
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
        file(READ ${file} part)
        string(APPEND text "${part}")
    endforeach()
    string(APPEND text "${ends}")
    string(SHA1 sha1 "${text}")
    configure_file(${PROJECT_SOURCE_DIR}/cmake/script.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/script_${name}.cpp @ONLY)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/script_${name}.cpp)
endfunction()
