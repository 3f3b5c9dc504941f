# What comes from the distribution. The pinned minimum is Debian 12; see scripts/install-packages.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(JOBTHROTTLE_STATIC)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)  # of the two that follow
endif()
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(lmdb REQUIRED IMPORTED_TARGET lmdb)
