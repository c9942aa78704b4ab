#!/bin/sh
# install_pages.sh BINDIR MANDIR DATADIR - called by meson after it installed
# the program: write the manual page and the shells' completions that the
# program itself prints, so that they cannot differ from its options.
set -eu
prefix=$MESON_INSTALL_DESTDIR_PREFIX

place() { # place FILE ARGUMENT...
    mkdir -p "$(dirname "$prefix/$1")"
    file=$prefix/$1
    shift
    "$program" help "$@" >"$file.new"
    chmod 644 "$file.new"
    mv "$file.new" "$file"
}

program=$prefix/$1/muster
place "$2/man1/muster.1" --man
place "$3/bash-completion/completions/muster" --completion bash
place "$3/zsh/site-functions/_muster" --completion zsh
