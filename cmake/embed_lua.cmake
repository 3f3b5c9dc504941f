# jt_embed_lua(TARGET NAME a.lua b.lua ...): one script out of these files, as the function script_NAME() of
# scripts.hpp, with the SHA-1 that Redis knows it by. A change of a file builds it anew.
function(jt_embed_lua target name)
    set(text "")
    foreach(file ${ARGN})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
        file(READ ${file} part)
        string(APPEND text "${part}")
    endforeach()
    string(SHA1 sha1 "${text}")
    configure_file(${PROJECT_SOURCE_DIR}/cmake/script.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/script_${name}.cpp @ONLY)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/script_${name}.cpp)
endfunction()
