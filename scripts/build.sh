# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by the scripts beside it, in the folder of the sources:
#   configure PRESET [CMAKE OPTION...]
#   build PRESET [TARGET...]             all targets, or these
# ccache is used where it is installed, in the build folder when there is no home to keep its cache in.

jobs=$(nproc)
launcher=()
if command -v ccache > /dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
    if [[ -z ${CCACHE_DIR:-} && ! -w ${HOME:-/nonexistent} ]]; then
        export CCACHE_DIR=$PWD/build/ccache
    fi
fi

configure() {
    local preset=$1
    if ! cmake --preset "$preset" "${launcher[@]}" "${@:2}" > build/"$preset".log 2>&1; then
        cat build/"$preset".log >&2
        return 1
    fi
}

build() {
    local preset=$1 targets=()
    (($# == 1)) || targets=(--target "${@:2}")
    cmake --build --preset "$preset" -j "$jobs" "${targets[@]}"
}

mkdir -p build
