#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes what is handed out: a zip, an MSI, an SBOM and their checksums, in build/packages.
#   package.sh [--build DIR] [--out DIR] [--version VERSION]
# --build takes the executables from an existing build and builds nothing. Equal executables make equal
# packages: times are SOURCE_DATE_EPOCH (default: that of the commit), names are sorted.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PRODUCT=csi-proxy
PACKAGE_DIR=$REPO_DIR/scripts/package
# For identifiers that must be the same for the same version: uuid5 of this and a text.
NAMESPACE=7d1c7a52-4c0c-4f0e-9c57-1b0f6d1f2a60

build_dir=
version=
out_dir=$REPO_DIR/build/packages
while [ $# -gt 0 ]; do
  case $1 in
    --build) build_dir=$(cd "$2" && pwd) ;;
    --out) out_dir=$2 ;;
    --version) version=$2 ;;
    *) die "unknown argument $1" "usage: scripts/package.sh [--build DIR] [--out DIR] [--version VERSION]" ;;
  esac
  shift 2
done
if [ -z "$build_dir" ]; then
  "$REPO_DIR/scripts/build.sh" windows-release csi-proxy csi-proxyctl
  build_dir=$REPO_DIR/build/windows-release
fi
for tool in wixl msibuild msiinfo python3; do
  command -v "$tool" >/dev/null || die "there is no $tool" "run scripts/setup.sh"
done

if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git -C "$REPO_DIR" log -1 --format=%ct 2>/dev/null || echo 1600000000)
fi
export SOURCE_DATE_EPOCH
version=${version:-$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build_dir/CMakeCache.txt")}
[ -n "$version" ] || die "$build_dir is no build of this project"
name=$PRODUCT-$version-windows-amd64

uuid() {
  python3 -c 'import sys, uuid; print(uuid.uuid5(uuid.UUID(sys.argv[1]), sys.argv[2]))' "$NAMESPACE" "$1"
}

# What is in the zip, with the times it shall have.
stage_files() {
  local stage=$1
  mkdir -p "$stage"
  cp "$build_dir/src/service/csi-proxy.exe" "$build_dir/client/ctl/csi-proxyctl.exe" "$stage/"
  cp "$REPO_DIR/LICENSE" "$stage/"
  mkdir -p "$stage/docs"
  cp "$REPO_DIR"/docs/*.{md,png} "$stage/docs/"
  for assets in kubernetes monitoring; do
    [ -d "$REPO_DIR/scripts/deploy/$assets" ] || continue
    mkdir -p "$stage/deploy"
    cp -r "$REPO_DIR/scripts/deploy/$assets" "$stage/deploy/"
  done
  python3 "$PACKAGE_DIR/third_party.py" --product "$PRODUCT" --version "$version" \
    --deps "$REPO_DIR/scripts/deps.sh" --namespace "$(uuid "$version sbom")" --stage "$stage"
  find "$stage" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

make_msi() {
  local stage=$1 msi=$2 work
  work=$(mktemp -d)
  cp -p "$stage"/{csi-proxy.exe,csi-proxyctl.exe,LICENSE,THIRD-PARTY.md,LICENSES.txt,sbom.spdx.json} "$work/"
  cp "$REPO_DIR/scripts/deploy/msi/csi-proxy.wxs" "$work/"
  (cd "$work" && wixl --arch x64 -D Version="$version" -D ProductCode="$(uuid "$version product")" \
    -o csi-proxy.msi csi-proxy.wxs)
  python3 "$PACKAGE_DIR/finish_msi.py" "$work/csi-proxy.msi" "$msi" \
    "$(uuid "$(cat "$work"/csi-proxy.wxs "$stage"/*.exe "$stage"/*.json | sha256sum)")"
  rm -rf "$work"
}

work_dir=$(mktemp -d)
trap 'rm -rf "$work_dir"' EXIT
mkdir -p "$out_dir"
out_dir=$(cd "$out_dir" && pwd)
rm -f "$out_dir/$PRODUCT"-*.{zip,msi,spdx.json} "$out_dir/SHA256SUMS"
stage_files "$work_dir/$name"
python3 "$PACKAGE_DIR/make_zip.py" "$work_dir/$name" "$out_dir/$name.zip"
make_msi "$work_dir/$name" "$out_dir/$name.msi"
cp "$work_dir/$name/sbom.spdx.json" "$out_dir/$name.spdx.json"
(cd "$out_dir" && sha256sum "$name".{msi,spdx.json,zip} >SHA256SUMS)
say "packages are in $out_dir"
cat "$out_dir/SHA256SUMS"
