# Manual page and completions come from the option table: every option of every
# command is in them, and the tools that read them do not complain.
"$MUSTER" help --man >muster.1
"$MUSTER" help --completion bash >muster.bash
"$MUSTER" help --completion zsh >muster.zsh
"$MUSTER" help --completion fish 2>&1
if command -v groff >/dev/null; then
    groff -man -ww -Tutf8 muster.1 2>&1 >page.txt
fi
if command -v man >/dev/null; then
    man --warnings -E UTF-8 -l -Tutf8 -Z muster.1 2>&1 >/dev/null
fi
! command -v zsh >/dev/null || zsh -n muster.zsh
bash -n muster.bash
for command in $("$MUSTER" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    "$MUSTER" $command --help >$command.help
done
python3 - <<'END'
import glob
import re
page = open("muster.1").read().replace("\\-", "-")
bash = open("muster.bash").read()
zsh = open("muster.zsh").read()
count = 0
for name in sorted(glob.glob("*.help")):
    command = name[:-5]
    flags = re.findall(r"^  (?:-\w, )?(--?[a-z0-9-]+)", open(name).read(), re.M)
    known = re.search(rf"^        {command}\) words='(.* .*)' ;;", bash, re.M)
    shown = re.search(rf"^    {command}\)\n.*?;;", zsh, re.M | re.S)
    for flag in flags:
        count += 1
        if flag not in known[1].split():
            print("bash lacks", command, flag)
        if f"'{flag}[" not in shown[0]:
            print("zsh lacks", command, flag)
        if f"\\fB{flag}\\fR" not in page:
            print("the page lacks", flag)
print("many options:", count > 100)
END
complete_it() {
    bash -c '. ./muster.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
             _muster; printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "
             echo' sh "$@"
}
complete_it muster s
complete_it muster train --met
complete_it muster train --metric a
complete_it muster model c
complete_it muster predict mus
head -n 3 muster.1 | tail -n 2
