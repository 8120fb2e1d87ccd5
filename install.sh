#!/bin/sh
# Installs Burnish for the user who types it, on Linux or macOS. Without root.
# It finds what runs Python, brings that where there is none, and hands over to installer.py, which has all the rest.
# Tried on Debian 11, 12 and 13. Not tried on a real macOS: docs/install.md says what was tried where.

# Where Burnish is published: the address of a .tar.gz of its source. Whoever publishes it writes it here, once;
# without it, name a folder or an archive with --from, or run the install.sh in a clone or in an unpacked bundle.
archive=''

usage() {
    cat <<'USAGE'
sh install.sh [OPTIONS]            install Burnish, or finish what was broken off, and open its page
sh install.sh uninstall [--all]    remove what was brought, and nothing else; --all: your runs and settings, too

  --from PLACE         a folder, a .tar or .tar.gz, or its address; else the folder of this file
  --with LIST          docker, ollama: these need root, say why, and ask
  --without LIST       sandbox, model, desktop, page: what to leave out
  --model NAME         qwen (1.1 GB, the default), qwen-small (0.5 GB), phi (by Ollama)
  --no-open            do not open the page
  --yes                ask nothing
USAGE
}

fail() {
    printf '\nburnish: %s\n' "$1" >&2
    exit 2
}

done_with() { printf ' %s %-9s %s\n' "$1" "$2" "$3"; }

can_start() { "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    installed=$app/source/.venv/bin/python # what it is a link to: the same Python makes the same .venv
    [ ! -x "$installed" ] || installed=$(readlink -f "$installed")
    for python in "$installed" "$app"/python/*/bin/python3 \
        python3 python3.14 python3.13 python3.12 python3.11; do
        if can_start "$python"; then
            python=$(command -v "$python")
            return 0
        fi
    done
    python=''
}

download() { # the address, the file
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --retry 2 --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --tries 3 --output-document "$2" "$1"
    else
        fail "there is neither curl nor wget here to fetch $1. On Debian or Ubuntu, type: sudo apt-get install curl"
    fi
}

find_source() {
    [ -n "$from" ] || [ -z "$here" ] || [ ! -f "$here/installer.py" ] || from=$here
    from=${from:-$archive}
    [ -n "$from" ] || fail "this copy of install.sh does not know where Burnish is published. Name a folder or an archive; type: sh install.sh --from PLACE"
    source=$from
    [ -d "$from" ] || unpack_source
    [ -f "$source/installer.py" ] || fail "there is no Burnish in $from. Name the folder of a clone or an archive of it; type: sh install.sh --from PLACE"
    source=$(CDPATH='' cd "$source" && pwd -P)
}

unpack_source() {
    packed=$from
    case $from in
        http://* | https://* | file://*)
            packed=$unpacked/source.tar
            download "$from" "$packed" || fail "$from cannot be fetched. Check the connection and the variables HTTPS_PROXY and https_proxy, then type: $again"
            ;;
    esac
    [ -f "$packed" ] || fail "there is neither a folder nor a file $from. Name one that exists; type: sh install.sh --from PLACE"
    mkdir "$unpacked/source"
    tar -xf "$packed" -C "$unpacked/source" 2>"$unpacked/said" || case $(cat "$unpacked/said") in
        *'No space'*) fail "there is too little room in $app to unpack $from. Free some space, then type: $again" ;;
        *) fail "$from is damaged or no archive: it cannot be unpacked. Fetch it again, then type: $again" ;;
    esac
    rm -f "$unpacked/source.tar"
    source=$unpacked/source
    for inner in "$source"/*/installer.py; do # archives mostly hold one folder
        [ ! -f "$inner" ] || source=${inner%/installer.py}
    done
}

# uv where it is: on PATH, in the bundle, or brought earlier.
find_uv() {
    for uv in uv "$source/bundle/uv" "$app/uv/uv" "$app/uv/bin/uv"; do
        if "$uv" --version >/dev/null 2>&1; then
            uv=$(command -v "$uv")
            return 0
        fi
    done
    uv=''
}

# A private uv: from pip with the locked hash where there is a pip, else by uv's own installer.
fetch_uv() {
    any=${python:-$(command -v python3 || :)}
    locked=$source/requirements/uv.txt
    pip_options='--quiet --disable-pip-version-check --only-binary=:all: --require-hashes'
    mkdir -p "$app/uv"
    # shellcheck disable=SC2086 # several words
    if [ -n "$any" ] && "$any" -I -m pip install $pip_options --target "$app/uv" -r "$locked" >/dev/null 2>&1; then
        return 0
    fi
    version=$(sed -n 's/^uv==\([0-9.]*\).*/\1/p' "$locked")
    installer=${BURNISH_UV_INSTALLER:-https://astral.sh/uv/$version/install.sh}
    download "$installer" "$app/uv/installer.sh" 2>/dev/null || return 1
    UV_UNMANAGED_INSTALL="$app/uv" INSTALLER_NO_MODIFY_PATH=1 sh "$app/uv/installer.sh" >/dev/null 2>&1
}

bring_python() {
    if [ -d "$source/bundle/python" ] && [ ! -d "$app/python/bundled" ]; then # its wheels are for this very Python
        mkdir -p "$app/python"
        rm -rf "$app/python/copying"
        cp -R "$source/bundle/python" "$app/python/copying" 2>/dev/null || fail "there is no room in $app. Free some space, then type: $again"
        mv "$app/python/copying" "$app/python/bundled"
    fi
    find_python
    if [ -n "$python" ] && "$python" -I -c 'import venv, ensurepip' 2>/dev/null; then
        find_uv # good to have, and the set-up brings its own where there is none
        done_with "$tick" uv "${uv:-comes with the packages}"
    else
        find_uv
        said='there already'
        if [ -z "$uv" ]; then
            said='brought'
            fetch_uv && find_uv
        fi
        [ -n "$uv" ] || fail "Burnish needs ${python:+the module venv of }Python 3.11 or newer, and uv, which brings it, cannot be fetched. Check the connection and the variables HTTPS_PROXY and https_proxy, or on Debian or Ubuntu type: sudo apt-get install python3 python3-venv"
        done_with "$tick" uv "$uv ($said)"
    fi
    said='there already'
    if [ -z "$python" ]; then
        said='brought; the system has none that is new enough'
        UV_CACHE_DIR="$unpacked/cache" "$uv" python install --no-config --no-progress --no-bin \
            --install-dir "$app/python" 3.13 2>"$unpacked/said" || {
            case $(cat "$unpacked/said") in *'No space'*) fail "there is too little room in $app for a Python. Free some space, then type: $again" ;; esac
            fail "there is no Python 3.11 or newer here, and uv cannot bring one ($(sed -n 's/^error: //p' "$unpacked/said" | head -n 1)). Check the connection and the variables HTTPS_PROXY and https_proxy, then type: $again"
        }
        find_python
        [ -n "$python" ] || fail "the Python that uv brought does not start on this machine. On Debian or Ubuntu, type: sudo apt-get install python3 python3-venv"
    fi
    done_with "$tick" Python "$("$python" -I -c 'import platform; print(platform.python_version())') at $python ($said)"
}

# What a broken-off first start has brought goes again; what installer.py has taken over is its own to keep or undo.
clean_up() {
    rm -rf "$unpacked"
    if [ ! -e "$app/manifest.json" ]; then
        rm -rf "$app/uv" "$app/python" "$app"/unpacked.*
        rmdir "$app" 2>/dev/null || :
    fi
}

main() {
    set -eu
    [ -n "${HOME:-}" ] || fail 'the variable HOME is not set, so there is no place for Burnish. Type: export HOME=/a/folder/of/yours'
    case ${LC_ALL:-${LC_CTYPE:-${LANG:-C}}} in C | POSIX | *UTF-8* | *utf8* | *utf-8*) tick='✓' ;; *) tick='ok' ;; esac
    app=${XDG_DATA_HOME:-$HOME/.local/share}/burnish-app
    case $0 in */install.sh | install.sh) here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P) ;; *) here='' ;; esac
    again='the same line once more'
    [ -z "$here" ] || again="sh install.sh${*:+ $*}"
    from='' verb=install unpacked=''
    count=$#
    while [ "$count" -gt 0 ]; do
        option=$1
        shift
        count=$((count - 1))
        case $option in
            --help | -h) usage && exit 0 ;;
            uninstall | --uninstall) verb=uninstall ;;
            --from=*) from=${option#--from=} ;;
            --from)
                [ "$count" -gt 0 ] || fail 'the option --from names no place. Type: sh install.sh --from PLACE'
                from=$1
                shift
                count=$((count - 1))
                ;;
            *) set -- "$@" "$option" ;;
        esac
    done
    if [ "$verb" = uninstall ]; then
        source=$app/source
        [ -f "$source/installer.py" ] || source=$here # an uninstall that was broken off
        find_python
        [ -f "$source/installer.py" ] || fail "nothing is installed in $app. To install Burnish, type: sh install.sh"
        [ -n "$python" ] || fail "the Python that Burnish was installed with is gone. Remove its folder; type: rm -r '$app'"
        exec "$python" -I "$source/installer.py" uninstall "$@"
    fi
    mkdir -p "$app" 2>/dev/null || fail "nothing can be written in $app. Name a folder of yours; type: export XDG_DATA_HOME=/a/folder/of/yours"
    trap clean_up EXIT
    free=$(df -Pk "$app" | tail -n 1 | while read -r _ _ _ free _; do echo "$free"; done)
    [ "${free:-0}" -gt 300000 ] || [ -e "$app/manifest.json" ] || fail "0.3 GB are needed in $app to begin with, and $((free / 1000)) MB are free. Free some space, then type: $again"
    trap 'exit 130' INT TERM HUP
    unpacked=$(mktemp -d "$app/unpacked.XXXXXX") || fail "there is no room in $app. Free some space, then type: $again"
    find_source
    bring_python
    "$python" -I "$source/installer.py" install --uv "$uv" --unpacked "$unpacked" --again "$again" "$@"
}

main "$@"
