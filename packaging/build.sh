# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What ./run and ./test share: the set-up of the environment and the quiet build of a preset.
# Sourced by both; expects $root, the top of the repository.

# A bare environment (CI, env -i) may lack what ccache and npm write below.
if [[ -z ${HOME:-} ]]; then
  HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
  export HOME
fi
export LC_ALL=C.UTF-8

# As many compilers at once as there are cores, but no more than have 1 GiB of memory each: the
# translation units that include Asio and Beast need that much.
build_jobs() {
  local cores gib
  cores=$(nproc)
  gib=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  echo $((gib < 1 ? 1 : gib < cores ? gib : cores))
}

# say TEXT: one line about what happens next.
say() { printf '== %s\n' "$*"; }

# configure PRESET [cmake options]: prints cmake's output only when it fails.
configure() {
  local log="$root/build/configure-$1.log" preset=$1
  shift
  mkdir -p "$root/build"
  if ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    return 1
  fi
}

# build PRESET [targets]
build() {
  local preset=$1
  shift
  cmake --build "$root/build/$preset" --parallel "$(build_jobs)" ${1:+--target "$@"} </dev/null
}
