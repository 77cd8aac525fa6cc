#!/usr/bin/env bash
# Everything that must hold, on a machine with nothing but Rust: formatting, lints, tests on the built-in and on the software Vulkan
# adapter, documentation, benches. Debian and Ubuntu: installs the software Vulkan driver if it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

have_vulkan_driver() { ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1; }

if ! have_vulkan_driver; then
  say "installing mesa-vulkan-drivers (the software Vulkan adapter)"
  if ! command -v apt-get >/dev/null; then
    echo "no lavapipe driver and no apt-get: install Mesa's software Vulkan driver (lavapipe) and run this again" >&2
    exit 1
  fi
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y --no-install-recommends mesa-vulkan-drivers libvulkan1
fi
# Mesa complains on standard error without it.
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-$(mktemp -d)}"

for component in rustfmt clippy; do
  cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 || rustup component add "$component"
done

say "formatting"
cargo fmt --all --check
say "lints"
cargo clippy --locked --all-targets -- -D warnings
say "tests"
cargo test --locked
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps
say "benches"
cargo build --locked --benches
say "all is well"
