# What comes from the distribution. The pinned minimum is Debian 12; see scripts/install-packages.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)
# LMDB has a pkg-config file on Debian; a static program needs the archive of the same name.
pkg_check_modules(lmdb REQUIRED IMPORTED_TARGET lmdb)
