#!/usr/bin/env bash
# Installs `omnilink` for the steps of a job: from the release of this action's version, or from a checkout.
#
# Reads ACTION (the directory of the action), SOURCE (a checkout to build, or empty), RELEASES (the address of the releases, or
# empty), and of the runner RUNNER_TEMP, RUNNER_OS, RUNNER_ARCH and GITHUB_PATH.
set -euo pipefail

fail() {
    echo "::error title=omnilink::$1"
    exit 1
}

# The action and the command have one version, in the manifest beside action.yml.
field() { sed -n "s/^$1 = \"\(.*\)\".*/\1/p" "$ACTION/Cargo.toml" | head -n 1; }

if [[ -n $SOURCE ]]; then
    cargo install --locked --path "$SOURCE/crates/cli" --root "$RUNNER_TEMP/omnilink-source"
    echo "$RUNNER_TEMP/omnilink-source/bin" >>"$GITHUB_PATH"
    exit
fi

version=$(field version)
case $RUNNER_OS-$RUNNER_ARCH in
Linux-X64) target=x86_64-unknown-linux-gnu ;;
Linux-ARM64) target=aarch64-unknown-linux-gnu ;;
macOS-X64) target=x86_64-apple-darwin ;;
macOS-ARM64) target=aarch64-apple-darwin ;;
*) fail "no release for $RUNNER_OS on $RUNNER_ARCH: build the command with the input \`source\`" ;;
esac
name=omnilink-$version-$target
directory=$RUNNER_TEMP/$name
# An earlier step of the job may have installed it.
if [[ ! -e $directory ]]; then
    releases=${RELEASES:-$(field repository)/releases/download}
    downloads=$(mktemp -d "$RUNNER_TEMP/omnilink.XXXXXX")
    for file in "$name.tar.gz" SHA256SUMS; do
        curl --fail --silent --show-error --location --retry 3 --output "$downloads/$file" "$releases/v$version/$file" ||
            fail "cannot download $releases/v$version/$file"
    done
    (
        cd "$downloads"
        awk -v name="$name.tar.gz" '$2 == name' SHA256SUMS >expected
        [[ -s expected ]] || fail "SHA256SUMS has no line for $name.tar.gz"
        if command -v sha256sum >/dev/null; then
            sha256sum --check --quiet expected
        else
            shasum --algorithm 256 --check expected
        fi
    ) || fail "the checksum of $name.tar.gz is wrong"
    tar -xzf "$downloads/$name.tar.gz" -C "$downloads"
    mv "$downloads/$name" "$directory"
    rm -r "$downloads"
fi
echo "$directory" >>"$GITHUB_PATH"
